import { type Disposable, type Event, EventEmitter, type Memento, window } from 'vscode';

import { messageOf } from '../failure.ts';
import type { OpenedSession } from '../protocol.ts';
import { NotRunning, type Sidecar } from '../sidecar.ts';
import { visible } from '../visible.ts';
import { readRemembered } from './remembered.ts';
import type { Session, Sessions } from './sessions.ts';

const KEY = 'acp.openSessions';

/** What was typed in a session and has not reached its agent. */
export interface Unsent {
  session: Session;
  prompts: NonNullable<OpenedSession['unsent']>;
}

/**
 * Keeps the sessions of this window over its reloads and over ends of the sidecar. The one that
 * was shown is opened again at once, the others when they are selected.
 */
export class Restoring implements Disposable {
  readonly #memory: Memento;
  readonly #sidecar: Sidecar;
  readonly #sessions: Sessions;
  readonly #titleOf: (session: Session) => string | null;
  readonly #unsent = new EventEmitter<Unsent>();
  readonly #subscriptions: Disposable[];
  readonly #waking = new Map<string, Promise<Session>>();
  #kept: string;

  /** @param memory The workspace's. */
  constructor(
    memory: Memento,
    sidecar: Sidecar,
    sessions: Sessions,
    titleOf: (session: Session) => string | null,
  ) {
    this.#memory = memory;
    this.#sidecar = sidecar;
    this.#sessions = sessions;
    this.#titleOf = titleOf;
    const earlier = readRemembered(memory.get(KEY));
    this.#kept = JSON.stringify(earlier);
    sessions.wakeBy((session) => this.#wake(session));
    sessions.remember(earlier);
    this.#subscriptions = [
      sessions.onDidChange(() => {
        this.#keep();
        this.#wakeActive();
      }),
      sidecar.onDidChangeRunning((running) => {
        if (running) {
          this.#wakeActive();
        } else {
          sessions.sleep(titleOf);
        }
      }),
    ];
  }

  /** Prompts that had not been sent when a session was cut off, to be put into its prompt. */
  get onDidFindUnsent(): Event<Unsent> {
    return this.#unsent.event;
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) {
      subscription.dispose();
    }
    this.#unsent.dispose();
  }

  #keep(): void {
    const { active } = this.#sessions;
    const open = this.#sessions.all().flatMap((session) => {
      const { agent, agentSessionId, cwd, asleep } = session;
      const title = this.#titleOf(session) ?? asleep?.title ?? null;
      return agentSessionId === null
        ? []
        : [{ agent, agentSessionId, cwd, title, active: session === active }];
    });
    const text = JSON.stringify(open);
    if (text !== this.#kept) {
      this.#kept = text;
      void this.#memory.update(KEY, open);
    }
  }

  #wakeActive(): void {
    const { active } = this.#sessions;
    const idle = active && !this.#waking.has(active.sessionId);
    if (idle && this.#sidecar.running && active.asleep?.problem === null) {
      this.#wake(active).catch((error: unknown) => this.#tell(active, error));
    }
  }

  async #wake(session: Session): Promise<Session> {
    const { sessionId } = session;
    const waking = this.#waking.get(sessionId) ?? this.#load(session);
    this.#waking.set(sessionId, waking);
    try {
      return await waking;
    } finally {
      this.#waking.delete(sessionId);
    }
  }

  async #load(session: Session): Promise<Session> {
    const { agent, agentSessionId, cwd, sessionId } = session;
    const shown = () => this.#sessions.active?.sessionId;
    try {
      const opened = await this.#sidecar.command<OpenedSession>('acp.session.load', {
        agent,
        agentSessionId,
        cwd,
      });
      const before = shown();
      const awake = this.#sessions.opened(opened, cwd, session);
      if (before !== undefined && before !== sessionId && before !== awake.sessionId) {
        // The user has gone on to another one meanwhile.
        this.#sessions.select(before);
      }
      if (opened.unsent?.length) {
        this.#unsent.fire({ session: awake, prompts: opened.unsent });
      }
      return awake;
    } catch (error) {
      // One whose sidecar ends meanwhile is opened again by the next.
      if (!(error instanceof NotRunning) && this.#sidecar.running) {
        this.#sessions.failed(session, messageOf(error));
      }
      throw error;
    }
  }

  async #tell(session: Session, error: unknown): Promise<void> {
    if (session.asleep?.problem === null) {
      return;
    }
    const name = session.asleep?.title ? `“${session.asleep.title}”` : `of ${session.agent}`;
    const why = messageOf(error);
    const [again, close] = ['Try Again', 'Close It'];
    const answer = await window.showWarningMessage(
      visible(
        `The session ${name} could not be opened again. ${why} It stays among the earlier sessions.`,
      ),
      again,
      close,
    );
    if (answer === again) {
      this.#wake(session).catch((second: unknown) => this.#tell(session, second));
    } else if (answer === close) {
      await this.#sessions.close(session.sessionId);
    }
  }
}
