import { element, icon } from '../element.ts';
import { visible } from '../visible.ts';

const REASONS: Record<string, string> = {
  cancelled: 'Cancelled',
  max_tokens: 'The agent stopped: its limit of tokens is reached',
  max_turn_requests: 'The agent stopped: its limit of requests in a turn is reached',
  refusal: 'The agent refused to go on',
};

/** What ended a turn, unless it just ended. */
export function endingText(stopReason: string): string {
  return REASONS[stopReason] ?? `The turn ended: ${visible(stopReason)}`;
}

/** A line across the conversation that says what ended a turn. */
export function ending(stopReason: string): HTMLElement {
  return element(
    'div',
    { class: 'separator' },
    element(
      'span',
      {},
      icon(stopReason === 'cancelled' ? 'circle-slash' : 'warning'),
      endingText(stopReason),
    ),
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
