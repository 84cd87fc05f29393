import { Disposable } from 'vscode';

import type { Question } from '../protocol.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { rowText, withoutIcons } from '../visible.ts';
import type { Elicitations } from './elicitation.ts';
import { type Fact, facts, inShort, isLong } from './facts.ts';
import { fillIn } from './form.ts';
import { BACK, pick, type Row, separator } from './picker.ts';
import type { Previews } from './preview.ts';
import type { Questions } from './questions.ts';

/** Characters of a question in the list of them. */
const MOST = 60;

type Choice =
  | { does: 'answer'; optionId: string }
  | { does: 'refuse' }
  | { does: 'diff'; index: number }
  | { does: 'command' };

/** The questions and forms that wait, in lists of VS Code's: for whoever is not in the chat. */
export class Asking {
  readonly #questions: Questions;
  readonly #forms: Elicitations;
  readonly #previews: Previews;
  readonly #sessions: Sessions;

  constructor(questions: Questions, forms: Elicitations, previews: Previews, sessions: Sessions) {
    this.#questions = questions;
    this.#forms = forms;
    this.#previews = previews;
    this.#sessions = sessions;
  }

  /** Shows what waits: a list, or the one there is. */
  async showAll(): Promise<void> {
    for (;;) {
      const [first, ...others] = this.#rows();
      const several = others.length > 0;
      const requestId = several ? await this.#chosen() : first?.choice;
      if (requestId === undefined || requestId === null) {
        return;
      }
      if (!(await this.#show(requestId, several))) {
        return;
      }
    }
  }

  /** Shows one question or form. */
  async show(requestId: string): Promise<void> {
    await this.#show(requestId, false);
  }

  async #chosen(): Promise<string | null> {
    const chosen = await pick<string>({
      title: 'Agents wait for you',
      placeholder: 'Choose what to look at. Nothing is answered by it.',
      rows: this.#rows(),
      onDidChange: (listener) =>
        Disposable.from(this.#questions.onDidChange(listener), this.#forms.onDidChange(listener)),
      stillOpen: () => this.#rows().length > 0,
    });
    return typeof chosen === 'string' && this.#known(chosen) ? chosen : null;
  }

  #known(requestId: string): boolean {
    return Boolean(this.#questions.get(requestId) ?? this.#forms.get(requestId));
  }

  #rows(): Row<string>[] {
    const rows = this.#questions.all().map((question) => ({
      label: `$(question) ${withoutIcons(inShort(question, MOST))}`,
      description: this.#session(question.sessionId),
      choice: question.requestId,
    }));
    const forms = this.#forms.all().map((form) => ({
      label: `$(edit) ${withoutIcons(inShort(form, MOST))}`,
      description: this.#session(form.sessionId),
      choice: form.requestId,
    }));
    return [...rows, ...forms];
  }

  #session(sessionId: string | null): string {
    const title = this.#sessions.get(sessionId ?? '')?.status?.title;
    return rowText(title ?? '');
  }

  /** Whether to go back to the list. */
  async #show(requestId: string, back: boolean): Promise<boolean> {
    const question = this.#questions.get(requestId);
    if (question) {
      return this.#ask(question, back);
    }
    return this.#forms.get(requestId) ? fillIn(this.#forms, requestId, back) : false;
  }

  async #ask(question: Question, back: boolean): Promise<boolean> {
    const { requestId } = question;
    if (question.diffs.length > 0) {
      await this.#previews.openDiff(question, 0);
    } else if (isLong(question)) {
      await this.#previews.openCommand(question);
    }
    for (;;) {
      const choice = await pick<Choice>({
        title: question.headline,
        placeholder: 'Choose an answer. Esc leaves the question waiting.',
        rows: rowsOf(question),
        back,
        onDidChange: this.#questions.onDidChange,
        stillOpen: () => this.#questions.get(requestId) !== undefined,
      });
      if (choice === null || choice === BACK) {
        return choice === BACK;
      }
      switch (choice.does) {
        case 'diff':
          await this.#previews.openDiff(question, choice.index);
          break;
        case 'command':
          await this.#previews.openCommand(question);
          break;
        case 'answer':
          this.#questions.answer(requestId, choice.optionId);
          return back;
        case 'refuse':
          this.#questions.refuse(requestId);
          return back;
      }
    }
  }
}

const NO_ANSWER: Row<Choice> = {
  label: '$(circle-slash) Give no answer',
  description: 'nothing is approved',
  choice: { does: 'refuse' },
};

function rowsOf(question: Question): Row<Choice>[] {
  const told = facts(question).flatMap(factRows);
  // Without a fact Enter would take an answer.
  const rows = told.length > 0 ? told : [{ label: withoutIcons(question.headline) }];
  if (isLong(question)) {
    rows.push({
      label: '$(go-to-file) The whole command is in the editor beside',
      choice: { does: 'command' },
    });
  }
  return [
    ...rows,
    separator('Answers'),
    ...question.options.map((option) => ({
      label: `$(${icon(option.kind)}) ${withoutIcons(option.title)}`,
      description: meaning(option.kind),
      choice: { does: 'answer', optionId: option.optionId } as const,
    })),
    ...(question.refusable ? [NO_ANSWER] : []),
  ];
}

function factRows(fact: Fact): Row<Choice>[] {
  const diff = fact.diff;
  const sign = { command: '$(terminal)', diff: '$(diff)', said: '$(blank)' }[fact.kind];
  return fact.rows.map((row, index) => ({
    label: `${index === 0 ? sign : '$(blank)'} ${withoutIcons(row)}`,
    ...(diff === undefined ? {} : { choice: { does: 'diff', index: diff } as const }),
  }));
}

function icon(kind: string | null): string {
  switch (kind) {
    case 'allow_once':
      return 'check';
    case 'allow_always':
      return 'check-all';
    case 'reject_once':
    case 'reject_always':
      return 'close';
    default:
      return 'circle-large-outline';
  }
}

function meaning(kind: string | null): string {
  switch (kind) {
    case 'allow_once':
      return 'allows it this once';
    case 'allow_always':
      return 'allows it from now on';
    case 'reject_once':
      return 'rejects it this once';
    case 'reject_always':
      return 'rejects it from now on';
    default:
      return '';
  }
}
