import type { ChatState, FromChat } from '../src/chat/messages.ts';
import type { Elicitation, Question } from '../src/protocol.ts';
import { inShort } from '../src/questions/facts.ts';
import { Guard, TOO_SOON } from './blocks/guard.ts';
import { element, icon, Part } from './element.ts';
import { visible, visibleLines } from './visible.ts';

type Asked = Question | Elicitation;

/** Characters of a question in a few words. */
const MOST = 200;

interface Shown {
  waiting: { requestId: string; words: string }[];
  /** Those of no session, which have no card in a conversation. */
  own: Question[];
  ownForms: Elicitation[];
}

/** All questions that wait, of whatever session, in one line that leads to the next of them. */
export class Strip {
  readonly element = element('section', { class: 'strip', 'aria-label': 'Waiting questions' });
  readonly #part: Part<Shown>;
  readonly #said = element('p', { class: 'guard-note', role: 'status' });
  readonly #sizes = new ResizeObserver(() => this.#placed());
  /** When the answers came, or last moved. */
  #movedAt = 0;
  #top = 0;
  readonly #goTo: (requestId: string) => void;
  #last: string | null = null;

  constructor(send: (message: FromChat) => void, goTo: (requestId: string) => void) {
    this.#goTo = goTo;
    this.#part = new Part(this.element, ({ waiting, own, ownForms }) => {
      this.#movedAt = performance.now();
      this.#said.replaceChildren();
      const guard = new Guard(
        () => this.#movedAt,
        () => this.#said.replaceChildren(TOO_SOON),
      );
      return [
        ...own.map((question) => ownQuestion(question, send, guard)),
        ...ownForms.map((form) => ownForm(form, send)),
        own.length > 0 ? this.#said : null,
        waiting.length > 0 ? this.#line(waiting) : null,
      ];
    });
    this.element.hidden = true;
    this.#sizes.observe(this.element);
  }

  /** What stands below it: it moves where that grows. */
  above(...others: Element[]): void {
    for (const other of others) {
      this.#sizes.observe(other);
    }
  }

  #placed(): void {
    const { top } = this.element.getBoundingClientRect();
    if (Math.abs(top - this.#top) > 2) {
      this.#top = top;
      this.#movedAt = performance.now();
    }
  }

  show(state: ChatState): void {
    const known = (it: Asked) => state.sessions.some((one) => one.sessionId === it.sessionId);
    const all: Asked[] = [...state.questions, ...state.elicitations];
    this.element.hidden = all.length === 0;
    this.#part.show({
      waiting: all
        .filter(known)
        .map((it) => ({ requestId: it.requestId, words: askedWords(it, state) })),
      own: state.questions.filter((it) => !known(it)),
      ownForms: state.elicitations.filter((it) => !known(it)),
    });
  }

  #line(waiting: Shown['waiting']): HTMLElement {
    const [first] = waiting;
    const one = waiting.length === 1;
    return element(
      'button',
      {
        type: 'button',
        class: 'strip-line',
        'data-key': 'next',
        on: { click: () => this.#next(waiting) },
      },
      icon('question'),
      element('span', {
        class: 'strip-words',
        text: one ? (first?.words ?? '') : `${waiting.length} questions wait`,
      }),
      element('span', { class: 'strip-go', text: one ? 'Show' : 'Next' }),
    );
  }

  #next(waiting: Shown['waiting']): void {
    const at = waiting.findIndex((it) => it.requestId === this.#last);
    const next = waiting[(at + 1) % waiting.length];
    if (next) {
      this.#last = next.requestId;
      this.#goTo(next.requestId);
    }
  }
}

/** A question in a few words. */
export function askedWords(it: Asked, state: ChatState): string {
  const session = state.sessions.find((one) => one.sessionId === it.sessionId);
  const other = session && session.sessionId !== state.active ? session.title : null;
  const where = other ? ` (in “${visible(other)}”)` : '';
  return `${inShort(it, MOST)}${where}`;
}

function ownQuestion(
  question: Question,
  send: (message: FromChat) => void,
  guard: Guard,
): HTMLElement {
  const { requestId } = question;
  const button = (optionId: string | null, title: string) => {
    const made = element('button', {
      type: 'button',
      class: 'button secondary',
      'data-key': `${requestId}:${optionId ?? ''}`,
      text: visible(title),
    });
    guard.watch(made, () => send({ type: 'answer', requestId, optionId }));
    return made;
  };
  // The first line has a mark besides, which tells it from others where several stand in a list.
  const told = [question.headline, ...question.message.split('\n').slice(1)];
  return element(
    'div',
    { class: 'own-question', role: 'group', 'aria-label': 'Question', 'data-request': requestId },
    element('p', { class: 'own-message', text: visibleLines(told.join('\n')) }),
    element(
      'div',
      { class: 'own-options' },
      ...question.options.map(({ optionId, title }) => button(optionId, title)),
      question.refusable ? button(null, 'Give no answer') : null,
    ),
  );
}

function ownForm(form: Elicitation, send: (message: FromChat) => void): HTMLElement {
  return element(
    'div',
    { class: 'own-question', role: 'group', 'aria-label': 'Question' },
    element('p', { class: 'own-message', text: visibleLines(form.message) }),
    element(
      'div',
      { class: 'own-options' },
      element('button', {
        type: 'button',
        class: 'button',
        'data-key': form.requestId,
        text: 'Answer…',
        on: { click: () => send({ type: 'run', command: 'acp.showQuestions' }) },
      }),
    ),
  );
}
