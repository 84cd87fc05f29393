import {
  commands,
  type Disposable,
  type Event,
  EventEmitter,
  Uri,
  type WebviewView,
  type WebviewViewProvider,
  window,
  workspace,
} from 'vscode';

import type { ContentBlock, TerminalUpdate } from '../protocol.ts';
import type { Session } from '../sessions/sessions.ts';
import { Actions } from './actions.ts';
import { Batch } from './batch.ts';
import { asDraft, inFront, isEmpty } from './draft.ts';
import { Drafts } from './drafts.ts';
import { fromChat } from './incoming.ts';
import type { Draft, ToChat } from './messages.ts';
import { Opening } from './opening.ts';
import { page } from './page.ts';
import type { ChatParts } from './sources.ts';
import { Starting } from './starting.ts';
import { chatState, titleOf } from './state.ts';

/**
 * The chat in the side bar, or wherever the user has moved it. It can be thrown away and made
 * again at any time: all it draws is kept here.
 */
export class ChatView implements WebviewViewProvider, Disposable {
  readonly #parts: ChatParts;
  readonly #drafts: Drafts;
  readonly #batch: Batch;
  readonly #subscriptions: { dispose(): unknown }[] = [];
  #view: WebviewView | null = null;
  /** Whether the page listens. Messages that wait for that are of one who wants to be seen. */
  #ready = false;
  #waiting: ToChat[] = [];
  #stateIsOld = false;
  /** What is asked is to be told with the next state. */
  #askedIsOld = true;
  /** How sessions that have been opened again are called now. */
  readonly #names = new Map<string, string>();
  readonly #shown = new EventEmitter<undefined>();
  #lastShown: string | null = null;
  #focused = false;

  /** Starts sessions. */
  readonly starting: Starting;
  readonly #actions: Actions;

  constructor(parts: ChatParts) {
    const { sidecar, sessions, status, agents, questions, forms } = parts;
    this.#parts = parts;
    this.#drafts = new Drafts(parts.workspaceState);
    this.#batch = new Batch(
      (sessionId) => sessions.get(sessionId)?.blocks,
      (delivery) => this.#send({ type: 'blocks', ...delivery }),
    );
    this.starting = new Starting(sidecar, sessions, agents);
    const opening = new Opening(sessions);
    this.#actions = new Actions(parts, this.starting, opening, {
      post: (message) => this.#send(message),
      putBack: (session, unsent) => this.#putBack(session, unsent),
      session: (sessionId) => this.#session(sessionId),
      keep: (session, draft) => this.#drafts.set(session, draft),
    });
    sidecar.onNotification<TerminalUpdate>('acp/terminal', (terminal) => {
      if (this.#view?.visible) {
        this.#send({ type: 'terminal', terminal });
      }
    });
    const changed = () => this.#changed();
    const asked = () => {
      this.#askedIsOld = true;
      this.#changed();
    };
    this.#subscriptions.push(
      this.starting,
      opening,
      this.#batch,
      this.#shown,
      sessions.onDidChange(changed),
      status.onDidChange(changed),
      agents.onDidChange(changed),
      this.starting.onDidChange(changed),
      questions.onDidChange(asked),
      forms.onDidChange(asked),
      sessions.onDidSupersede(({ slept, session }) => this.#superseded(slept, session)),
      sessions.onDidChangeBlocks(({ session, blocks }) =>
        this.#batch.add(
          session.sessionId,
          blocks.map((block) => block.id),
        ),
      ),
      window.registerWebviewViewProvider('acp.chat', this, {
        webviewOptions: { retainContextWhenHidden: true },
      }),
    );
  }

  resolveWebviewView(view: WebviewView): void {
    this.#view = view;
    this.#ready = false;
    this.#batch.setOpen(false);
    const dist = Uri.joinPath(this.#parts.extensionUri, 'dist');
    view.webview.options = { enableScripts: true, localResourceRoots: [dist] };
    view.webview.onDidReceiveMessage((message: unknown) => this.#received(message));
    view.onDidChangeVisibility(() => {
      this.#batch.setOpen(view.visible && this.#ready);
      this.#tellShown();
    });
    view.onDidDispose(() => {
      if (this.#view === view) {
        this.#view = null;
        this.#focused = false;
        this.#ready = false;
        this.#batch.setOpen(false);
        this.#tellShown();
      }
    });
    view.webview.html = page(view.webview, dist);
    this.#drawBadge();
  }

  /** Shows the chat with the focus in its prompt. */
  async focus(): Promise<void> {
    await commands.executeCommand('acp.chat.focus');
    this.#sendWhenReady({ type: 'focusPrompt' });
  }

  /** Puts a text at the end of the prompt. */
  async insert(text: string): Promise<void> {
    await commands.executeCommand('acp.chat.focus');
    this.#sendWhenReady({ type: 'insert', text });
  }

  /**
   * Shows a question where it stands in its conversation.
   *
   * @returns false for one that stands in none
   */
  async showQuestion(requestId: string): Promise<boolean> {
    const { questions, forms, sessions } = this.#parts;
    const asked = [...questions.all(), ...forms.all()];
    const sessionId = asked.find((it) => it.requestId === requestId)?.sessionId;
    if (!sessionId || !sessions.get(sessionId)) {
      return false;
    }
    sessions.select(sessionId);
    await commands.executeCommand('acp.chat.focus');
    this.#drawState();
    this.#batch.flush();
    this.#sendWhenReady({ type: 'showQuestion', requestId });
    return true;
  }

  /** The session the user sees now, null while the chat is hidden. */
  get shownSession(): string | null {
    return this.#view?.visible ? (this.#parts.sessions.active?.sessionId ?? null) : null;
  }

  /** Whether the user's keys go to the chat. */
  get hasFocus(): boolean {
    return this.#focused && this.#view?.visible === true;
  }

  /** Another session is seen, or none any more. */
  get onDidChangeShown(): Event<undefined> {
    return this.#shown.event;
  }

  /** What a session is called. */
  titleOf(session: Session): string {
    return titleOf(session) ?? `New session with ${session.agent || 'the agent'}`;
  }

  /** Puts prompts that were never sent in front of what is typed in a session. */
  putBack(session: Session, unsent: { text: string; content?: ContentBlock[] }[]): void {
    for (const prompt of unsent.toReversed()) {
      this.#putBack(session, asDraft(prompt));
    }
  }

  /** Closes a session; asks where its agent is at work. */
  async close(session: Session): Promise<void> {
    await this.#actions.close(session);
  }

  dispose(): void {
    void this.#drafts.save();
    for (const subscription of this.#subscriptions) {
      subscription.dispose();
    }
  }

  #received(message: unknown): void {
    const known = fromChat(message);
    if (known === null) {
      this.#parts.log.warn(`The chat said what nobody understands: ${brief(message)}`);
    } else if (known.type === 'ready') {
      this.#begin();
    } else if (known.type === 'focus') {
      this.#focused = known.has;
    } else {
      void this.#actions.run(known);
    }
  }

  /** Tells a new page everything. */
  #begin(): void {
    const { sessions } = this.#parts;
    this.#ready = true;
    this.#askedIsOld = true;
    this.#drawState();
    for (const session of sessions.all()) {
      this.#batch.reset(session.sessionId);
    }
    this.#batch.setOpen(this.#view?.visible ?? false);
    for (const session of [null, ...sessions.all()]) {
      this.#sendDraft(session);
    }
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const message of waiting) {
      this.#send(message);
    }
  }

  /** Also by the name it had before it was opened again: the page may not know better yet. */
  #session(sessionId: string): Session | null {
    const by = this.#names.get(sessionId);
    return by === undefined ? (this.#parts.sessions.get(sessionId) ?? null) : this.#session(by);
  }

  #superseded(slept: Session, session: Session): void {
    this.#names.set(slept.sessionId, session.sessionId);
    this.#drafts.move(slept, session);
    this.#send({ type: 'superseded', sessionId: slept.sessionId, by: session.sessionId });
  }

  #putBack(session: Session | null, unsent: Draft): void {
    // Also here: a page that is made later is given it as what was typed.
    this.#drafts.set(session, inFront(unsent, this.#drafts.get(session)));
    this.#send({ type: 'putBack', sessionId: session?.sessionId ?? null, draft: unsent });
  }

  #sendDraft(session: Session | null): void {
    const draft = this.#drafts.get(session);
    if (!isEmpty(draft)) {
      this.#send({ type: 'draft', sessionId: session?.sessionId ?? null, draft });
    }
  }

  /** Draws once for all that changes now. */
  #changed(): void {
    if (!this.#stateIsOld) {
      this.#stateIsOld = true;
      setTimeout(() => this.#drawState(), 0);
    }
  }

  #drawState(): void {
    const { sessions, status, agents, questions, forms } = this.#parts;
    this.#stateIsOld = false;
    const asked = { questions: questions.all(), elicitations: forms.all() };
    this.#send({
      type: 'state',
      state: {
        ...chatState({
          sidecar: status.view,
          sessions: sessions.all(),
          active: sessions.active?.sessionId ?? null,
          agents: agents.names(),
          follows: workspace.getConfiguration('acp').get('follow.enabled', true),
          starting: this.starting.agent,
        }),
        ...(this.#askedIsOld ? asked : {}),
      },
    });
    this.#askedIsOld = false;
    this.#drawBadge();
    this.#tellShown();
  }

  #tellShown(): void {
    if (this.#lastShown !== this.shownSession) {
      this.#lastShown = this.shownSession;
      this.#shown.fire(undefined);
    }
  }

  #drawBadge(): void {
    const { questions, forms } = this.#parts;
    const waiting = questions.all().length + forms.all().length;
    if (this.#view) {
      this.#view.badge =
        waiting > 0
          ? {
              value: waiting,
              tooltip: waiting === 1 ? 'A question waits' : `${waiting} questions wait`,
            }
          : undefined;
    }
  }

  #sendWhenReady(message: ToChat): void {
    if (this.#ready) {
      this.#send(message);
    } else {
      this.#waiting.push(message);
    }
  }

  #send(message: ToChat): void {
    if (this.#ready) {
      void this.#view?.webview.postMessage(message);
    }
  }
}

function brief(message: unknown): string {
  return JSON.stringify([message]).slice(0, 200);
}
