import { element, icon } from '../element.ts';
import { visible } from '../visible.ts';

/** A line across the conversation that says what ended a turn. */
export function ending(stopReason: string, stopText: string): HTMLElement {
  return element(
    'div',
    { class: 'separator' },
    element('span', {}, icon(stopReason === 'cancelled' ? 'circle-slash' : 'warning'), stopText),
  );
}

/** The agent is at work and has nothing to show for it yet. */
export function working(): HTMLElement {
  return element(
    'div',
    { class: 'working' },
    element('span', { class: 'dot' }),
    element('span', { class: 'dot' }),
    element('span', { class: 'dot' }),
    element('span', { class: 'unseen', text: 'The agent is working' }),
  );
}

/** The agent is gone. */
export function gone(agent: string): HTMLElement {
  return element(
    'div',
    { class: 'notice', 'data-severity': 'warning' },
    icon('debug-disconnect'),
    element('div', {
      class: 'notice-text',
      text: `${visible(agent)} has ended. Your next prompt starts it again.`,
    }),
  );
}

/** Stands for a block that cannot be drawn. */
export function undrawable(reason: string): HTMLElement {
  return element(
    'div',
    { class: 'notice', 'data-severity': 'warning' },
    icon('warning'),
    element('div', {
      class: 'notice-text',
      text: `The agent sent something here that cannot be shown (${visible(reason)}).`,
    }),
  );
}
