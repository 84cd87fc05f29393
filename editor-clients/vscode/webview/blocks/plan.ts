import type { PlanBlock } from '../../src/protocol.ts';
import { element, icon, Part } from '../element.ts';
import { visible, visibleLines } from '../visible.ts';
import type { BlockContext, BlockView } from './context.ts';
import { fold } from './fold.ts';

const STATES: Record<string, [symbol: string, label: string]> = {
  completed: ['pass-filled', 'done'],
  in_progress: ['circle-filled', 'in progress'],
  pending: ['circle-large-outline', 'to do'],
};

/** What the agent means to do, step by step. */
export function planView(block: PlanBlock, context: BlockContext): BlockView<PlanBlock> {
  const count = element('span', { class: 'muted' });
  const list = new Part(element('ol', { class: 'plan-entries' }), (entries: PlanBlock['entries']) =>
    entries.map((entry) => {
      const state = entry.status ?? 'pending';
      const [symbol, label] = STATES[state] ?? ['circle-large-outline', visible(state)];
      return element(
        'li',
        { class: 'plan-entry', 'data-status': state },
        element(
          'span',
          { class: 'plan-state', role: 'img', 'aria-label': label, title: label },
          icon(symbol),
        ),
        element('span', { class: 'plan-text', dir: 'auto', text: visibleLines(entry.content) }),
        entry.priority === 'high' ? element('span', { class: 'badge', text: 'high' }) : null,
      );
    }),
  );
  const head = [icon('checklist'), element('span', { class: 'tool-title', text: 'Plan' }), count];
  const { element: details } = fold(
    context,
    'plan',
    head,
    (body) => body.append(list.element),
    true,
  );
  const update = (it: PlanBlock) => {
    count.textContent = `${done(it)} of ${it.entries.length}`;
    list.show(it.entries);
  };
  update(block);
  return {
    nodes: [element('div', { class: 'card plan' }, details)],
    label: (it) => `Plan: ${done(it)} of ${it.entries.length} done`,
    update,
  };
}

function done(block: PlanBlock): number {
  return block.entries.filter((it) => it.status === 'completed').length;
}
