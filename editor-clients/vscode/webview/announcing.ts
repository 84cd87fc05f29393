import type { ChatState } from '../src/chat/messages.ts';
import { inTurn } from '../src/sessions/status.ts';
import { element } from './element.ts';
import { askedWords } from './strip.ts';

/** Tells a screen reader what has happened: a turn's end, a new question. */
export class Announcer {
  readonly element = element('div', { class: 'unseen', role: 'status', 'aria-live': 'polite' });

  announce(before: ChatState | null, state: ChatState): void {
    const words = before ? news(before, state) : [];
    if (words.length > 0) {
      this.element.textContent = words.join('. ');
    }
  }
}

/** What has happened between two states, in words. */
function news(before: ChatState, state: ChatState): string[] {
  const known = new Set(
    [...before.questions, ...before.elicitations].map((asked) => asked.requestId),
  );
  const asked = [...state.questions, ...state.elicitations]
    .filter(({ requestId }) => !known.has(requestId))
    .map((it) => askedWords(it, state));
  const ended = state.sessions.flatMap((session) => {
    const was = before.sessions.find((it) => it.sessionId === session.sessionId)?.status;
    if (!inTurn(was) || inTurn(session.status)) {
      return [];
    }
    if (session.sessionId === state.active && session.status !== 'dead') {
      // The conversation itself tells of the turn that the user looks at.
      return [];
    }
    const name = session.agent || 'The agent';
    const other = session.sessionId === state.active ? '' : ` in “${session.title ?? ''}”`;
    return session.status === 'dead'
      ? [`${name} is gone${other}`]
      : [
          session.stopText === null
            ? `${name} has finished${other}`
            : `${name}${other}: ${session.stopText}`,
        ];
  });
  return [...asked, ...ended];
}
