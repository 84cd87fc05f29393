import type { ChatState, FromChat } from '../src/chat/messages.ts';
import type { Elicitation, Question } from '../src/protocol.ts';
import { element, icon, Part } from './element.ts';

type Asked = Question | Elicitation;

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
  readonly #goTo: (requestId: string) => void;
  #last: string | null = null;

  constructor(send: (message: FromChat) => void, goTo: (requestId: string) => void) {
    this.#goTo = goTo;
    this.#part = new Part(this.element, ({ waiting, own, ownForms }) => [
      ...own.map((question) => ownQuestion(question, send)),
      ...ownForms.map((form) => ownForm(form, send)),
      waiting.length > 0 ? this.#line(waiting) : null,
    ]);
    this.element.hidden = true;
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
  const what = ('title' in it ? it.title : null) ?? it.message.split('\n')[0] ?? '';
  return `${it.agent} asks${other ? ` in “${other}”` : ''}: ${what}`;
}

function ownQuestion(question: Question, send: (message: FromChat) => void): HTMLElement {
  const { requestId } = question;
  return element(
    'div',
    { class: 'own-question', role: 'group', 'aria-label': 'Question', 'data-request': requestId },
    element('p', { class: 'own-message', text: question.message }),
    element(
      'div',
      { class: 'own-options' },
      ...question.options.map(({ optionId, title }) =>
        element('button', {
          type: 'button',
          class: 'button secondary',
          'data-key': `${requestId}:${optionId}`,
          text: title,
          on: { click: () => send({ type: 'answer', requestId, optionId }) },
        }),
      ),
    ),
  );
}

function ownForm(form: Elicitation, send: (message: FromChat) => void): HTMLElement {
  return element(
    'div',
    { class: 'own-question', role: 'group', 'aria-label': 'Question' },
    element('p', { class: 'own-message', text: form.message }),
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
