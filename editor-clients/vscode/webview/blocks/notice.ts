import type { CompactionBlock, NoticeBlock } from '../../src/protocol.ts';
import { element, icon, Part } from '../element.ts';
import { Markdown } from '../markdown.ts';
import { visible } from '../visible.ts';
import type { BlockContext, BlockView } from './context.ts';
import { fold } from './fold.ts';

/** Something the agent or the sidecar wants the user to know. */
export function noticeView(block: NoticeBlock, context: BlockContext): BlockView<NoticeBlock> {
  const box = element('div', { class: 'notice' });
  const title = element('div', { class: 'notice-title' });
  const text = new Markdown(context);
  const symbol = element('span');
  box.append(symbol, element('div', { class: 'notice-text' }, title, text.element));
  const update = (it: NoticeBlock) => {
    const severity = ['error', 'warning'].includes(it.severity) ? it.severity : 'info';
    box.dataset.severity = severity;
    symbol.replaceChildren(icon(severity));
    title.textContent = visible(it.title ?? '');
    text.show(it.description ?? '');
  };
  update(block);
  return {
    nodes: [box],
    label: (it) => `${it.severity}: ${visible(it.title ?? it.description ?? '')}`,
    update,
  };
}

/** The agent has made its memory of the conversation shorter. */
export function compactionView(
  block: CompactionBlock,
  context: BlockContext,
): BlockView<CompactionBlock> {
  const part = new Part(element('div', { class: 'separator-block' }), (it: CompactionBlock) => {
    const line = element(
      'div',
      { class: 'separator' },
      element('span', {}, icon('fold'), title(it)),
    );
    if (!it.summary) {
      return [line];
    }
    const { summary } = it;
    const details = fold(context, 'summary', ['What it remembers'], (body) => {
      const text = new Markdown(context);
      text.show(summary);
      body.append(text.element);
    });
    return [line, details.element];
  });
  part.show(block);
  return { nodes: [part.element], label: title, update: (it) => part.show(it) };
}

function title(block: CompactionBlock): string {
  if ((block.error ?? null) !== null) {
    const { message } = block.error as { message?: unknown };
    return `Shortening the conversation failed${typeof message === 'string' ? `: ${visible(message)}` : ''}`;
  }
  return block.status === 'completed' || block.status === null
    ? 'The conversation was shortened'
    : block.status === 'failed'
      ? 'Shortening the conversation failed'
      : 'Shortening the conversation…';
}
