import {
  commands,
  type Disposable,
  type Event,
  ProgressLocation,
  StatusBarAlignment,
  type StatusBarItem,
  ThemeColor,
  window,
} from 'vscode';

import type { Asking } from './asking.ts';
import type { Elicitations } from './elicitation.ts';
import { inShort } from './facts.ts';
import type { Questions } from './questions.ts';

/** Characters of a notification: it has one line, and its end is where the link is. */
const MOST = 42;

/** The chat, as far as it shows questions. */
export interface Chat {
  /** The session whose conversation the user can see now, null without any. */
  readonly shownSession: string | null;
  readonly onDidChangeShown: Event<undefined>;
  /** Opens the conversation at a question; false where it cannot. */
  showQuestion(requestId: string): Promise<boolean>;
}

interface Waits {
  requestId: string;
  sessionId: string | null;
  text: string;
}

/**
 * Tells of what waits while the user is elsewhere: one notification each, which leads to the
 * question and never answers it, and an entry of the status bar. Both go when it is settled.
 */
export class Permission implements Disposable {
  readonly #questions: Questions;
  readonly #forms: Elicitations;
  readonly #asking: Asking;
  readonly #chat: Chat;
  readonly #status: StatusBarItem;
  readonly #told = new Map<string, () => void>();
  readonly #putAway = new Set<string>();
  readonly #subscriptions: { dispose(): unknown }[];

  constructor(questions: Questions, forms: Elicitations, asking: Asking, chat: Chat) {
    this.#questions = questions;
    this.#forms = forms;
    this.#asking = asking;
    this.#chat = chat;
    this.#status = window.createStatusBarItem('acp.questions', StatusBarAlignment.Left, 3);
    this.#status.name = 'Questions of Agents';
    this.#status.command = 'acp.showQuestions';
    this.#status.backgroundColor = new ThemeColor('statusBarItem.warningBackground');
    this.#subscriptions = [
      this.#status,
      questions.onDidChange(() => this.#changed()),
      forms.onDidChange(() => this.#changed()),
      chat.onDidChangeShown(() => this.#changed()),
      commands.registerCommand('acp.showQuestions', () => asking.showAll()),
      commands.registerCommand('acp.showQuestion', (requestId: unknown) =>
        typeof requestId === 'string' ? this.show(requestId) : asking.showAll(),
      ),
      commands.registerCommand('acp.putQuestionAway', (requestId: unknown) => {
        if (typeof requestId === 'string') {
          this.#untell(requestId);
          this.#putAway.add(requestId);
        }
      }),
    ];
  }

  /** Leads to a question: to its card in the chat, else to a list of its own. */
  async show(requestId: string): Promise<void> {
    this.#untell(requestId);
    this.#putAway.add(requestId);
    if (!(await this.#chat.showQuestion(requestId))) {
      await this.#asking.show(requestId);
    }
  }

  dispose(): void {
    for (const requestId of [...this.#told.keys()]) {
      this.#untell(requestId);
    }
    for (const subscription of this.#subscriptions) {
      subscription.dispose();
    }
  }

  #changed(): void {
    const waits = this.#waits();
    for (const requestId of [...this.#told.keys(), ...this.#putAway]) {
      if (!waits.some((each) => each.requestId === requestId)) {
        this.#untell(requestId);
        this.#putAway.delete(requestId);
      }
    }
    for (const each of waits) {
      const isSeen = each.sessionId !== null && each.sessionId === this.#chat.shownSession;
      if (isSeen) {
        this.#untell(each.requestId);
        this.#putAway.delete(each.requestId);
      } else if (!this.#told.has(each.requestId) && !this.#putAway.has(each.requestId)) {
        this.#tell(each);
      }
    }
    this.#draw(waits);
  }

  #waits(): Waits[] {
    return [
      ...this.#questions.all().map((question) => ({ ...question, text: inShort(question, MOST) })),
      ...this.#forms.all().map((form) => ({ ...form, text: inShort(form, MOST) })),
    ];
  }

  /** VS Code closes only the notifications of a progress from here. */
  #tell({ requestId, text }: Waits): void {
    const argument = encodeURIComponent(JSON.stringify([requestId]));
    const show = `[Show…](command:acp.showQuestion?${argument})`;
    // A progress has no button to close it.
    const later = `[Later](command:acp.putQuestionAway?${argument})`;
    const settled = new Promise<void>((resolve) => this.#told.set(requestId, resolve));
    void window.withProgress(
      { location: ProgressLocation.Notification, title: `${text} — ${show} ${later}` },
      () => settled,
    );
  }

  #untell(requestId: string): void {
    this.#told.get(requestId)?.();
    this.#told.delete(requestId);
  }

  #draw(waits: Waits[]): void {
    if (waits.length === 0) {
      this.#status.hide();
      return;
    }
    const [first] = waits;
    const words = waits.length === 1 ? '1 question' : `${waits.length} questions`;
    this.#status.text = `$(question) ${words}`;
    this.#status.tooltip = waits.length === 1 ? first?.text : 'Agents wait for your answers';
    this.#status.accessibilityInformation = {
      label: `${words} of agents to be answered`,
      role: 'button',
    };
    this.#status.show();
  }
}
