import { type Disposable, type Event, EventEmitter } from 'vscode';

import type {
  Block,
  Changes,
  Command,
  EntryBlock,
  FileChange,
  Follow,
  OpenedSession,
  StatusBlock,
  Transcript,
} from '../protocol.ts';
import type { Sidecar } from '../sidecar.ts';

/** What the sidecar said of one session, kept to draw from. */
export interface Session {
  sessionId: string;
  agentSessionId: string | null;
  agent: string;
  cwd: string;
  status: StatusBlock | null;
  commands: Command[];
  /** The conversation in order, by the blocks' ids. */
  blocks: Map<string, EntryBlock>;
  changes: FileChange[];
  follow: Follow | null;
  /**
   * Set where the sidecar does not have it: it was open before the window was reloaded or the
   * sidecar ended, and is opened again when it is selected.
   */
  asleep: Asleep | null;
}

export interface Asleep {
  title: string | null;
  /** Why it could not be opened again. */
  problem: string | null;
}

/** What is needed to open a session again. */
export interface Remembered {
  agent: string;
  agentSessionId: string;
  cwd: string;
  title: string | null;
  active: boolean;
}

/** The sessions that are open in this window. */
export class Sessions implements Disposable {
  readonly #sidecar: Sidecar;
  readonly #sessions = new Map<string, Session>();
  readonly #changed = new EventEmitter<undefined>();
  readonly #blocks = new EventEmitter<{ session: Session; blocks: EntryBlock[] }>();
  readonly #reviewed = new EventEmitter<Session>();
  readonly #followed = new EventEmitter<Session>();
  readonly #superseded = new EventEmitter<{ slept: Session; session: Session }>();
  /** Of those the sidecar may still say something. */
  readonly #closed = new Set<string>();
  #active: string | null = null;
  #wake: ((session: Session) => Promise<Session>) | null = null;

  constructor(sidecar: Sidecar) {
    this.#sidecar = sidecar;
    sidecar.onNotification<Transcript>('acp/transcript', (it) => this.#onTranscript(it));
    sidecar.onNotification<Changes>('acp/changes', ({ sessionId, changes }) => {
      if (this.#closed.has(sessionId)) {
        return;
      }
      const session = this.#known(sessionId);
      session.changes = changes;
      this.#reviewed.fire(session);
      this.#changed.fire(undefined);
    });
    sidecar.onNotification<Follow>('acp/follow', (follow) => {
      if (this.#closed.has(follow.sessionId)) {
        return;
      }
      const session = this.#known(follow.sessionId);
      session.follow = follow;
      this.#followed.fire(session);
      this.#changed.fire(undefined);
    });
  }

  /** The list of sessions, the active one, or what stands beside a conversation is another. */
  get onDidChange(): Event<undefined> {
    return this.#changed.event;
  }

  /** Blocks of a conversation are new or others. */
  get onDidChangeBlocks(): Event<{ session: Session; blocks: EntryBlock[] }> {
    return this.#blocks.event;
  }

  /** The hunks that wait for review in a session are others. */
  get onDidChangeReview(): Event<Session> {
    return this.#reviewed.event;
  }

  /** The agent of a session is elsewhere. */
  get onDidChangeFollow(): Event<Session> {
    return this.#followed.event;
  }

  /** A session that slept is open again, as another one. */
  get onDidSupersede(): Event<{ slept: Session; session: Session }> {
    return this.#superseded.event;
  }

  /** In the order of opening. */
  all(): Session[] {
    return [...this.#sessions.values()];
  }

  get(sessionId: string): Session | undefined {
    return this.#sessions.get(sessionId);
  }

  get active(): Session | null {
    return this.#sessions.get(this.#active ?? '') ?? null;
  }

  select(sessionId: string): void {
    if (this.#sessions.has(sessionId) && this.#active !== sessionId) {
      this.#active = sessionId;
      this.#changed.fire(undefined);
    }
  }

  /**
   * Takes in what `acp.session.new`, `.load`, `.resume` or `.fork` has answered.
   *
   * @param slept The one that it takes the place of.
   */
  opened(opened: OpenedSession, cwd: string, slept: Session | null = null): Session {
    const session = this.#known(opened.sessionId);
    session.agent = opened.agent;
    session.agentSessionId = opened.agentSessionId;
    session.cwd = cwd;
    session.commands = opened.commands;
    this.#active = session.sessionId;
    this.#supersede(session, slept);
    this.#changed.fire(undefined);
    return session;
  }

  /** Says how a session that sleeps is opened again. */
  wakeBy(wake: (session: Session) => Promise<Session>): void {
    this.#wake = wake;
  }

  /** The session, opened again first where it sleeps. Throws where that fails. */
  async awake(session: Session): Promise<Session> {
    return session.asleep && this.#wake ? this.#wake(session) : session;
  }

  /** Adds what was open earlier, asleep. */
  remember(earlier: readonly Remembered[]): void {
    for (const { agent, agentSessionId, cwd, title, active } of earlier) {
      const session = this.#known(`asleep-${agent}-${agentSessionId}`);
      Object.assign(session, { agent, agentSessionId, cwd });
      session.asleep = { title, problem: null };
      if (active) {
        this.#active = session.sessionId;
      }
    }
    this.#changed.fire(undefined);
  }

  /** Puts all to sleep that can be opened again: the sidecar is gone. The others are forgotten. */
  sleep(titleOf: (session: Session) => string | null): void {
    for (const session of [...this.#sessions.values()]) {
      if (session.asleep) {
        session.asleep.problem = null;
      } else if (session.agentSessionId !== null) {
        session.asleep = { title: titleOf(session), problem: null };
        session.changes = [];
        session.follow = null;
        session.status = session.status && {
          ...session.status,
          status: 'closed',
          queue: [],
        };
        this.#reviewed.fire(session);
      } else {
        this.#forget(session.sessionId);
      }
    }
    this.#changed.fire(undefined);
  }

  /** Notes why one that sleeps could not be opened again. */
  failed(session: Session, problem: string): void {
    if (session.asleep) {
      session.asleep.problem = problem;
      this.#changed.fire(undefined);
    }
  }

  async close(sessionId: string): Promise<void> {
    if (!this.#sessions.get(sessionId)?.asleep) {
      await this.#sidecar.command('acp.session.close', { sessionId });
      this.#closed.add(sessionId);
    }
    this.#forget(sessionId);
    this.#changed.fire(undefined);
  }

  dispose(): void {
    this.#changed.dispose();
    this.#blocks.dispose();
    this.#reviewed.dispose();
    this.#followed.dispose();
    this.#superseded.dispose();
  }

  #known(sessionId: string): Session {
    const known = this.#sessions.get(sessionId);
    if (known) {
      return known;
    }
    const session: Session = {
      sessionId,
      agentSessionId: null,
      agent: '',
      cwd: '',
      status: null,
      commands: [],
      blocks: new Map(),
      changes: [],
      follow: null,
      asleep: null,
    };
    this.#sessions.set(sessionId, session);
    this.#active ??= sessionId;
    return session;
  }

  #forget(sessionId: string): void {
    this.#sessions.delete(sessionId);
    if (this.#active === sessionId) {
      this.#active = [...this.#sessions.keys()].at(-1) ?? null;
    }
  }

  /** Puts a session that was opened again in the place of the one that slept. */
  #supersede(session: Session, instead: Session | null = null): void {
    const isSame = (other: Session) =>
      other.agent === session.agent && other.agentSessionId === session.agentSessionId;
    const asleep = this.all().filter((other) => other.asleep !== null);
    // Some agents give their ids anew.
    const slept = asleep.find((other) => other === instead) ?? asleep.find(isSame);
    if (!slept) {
      return;
    }
    const order = this.all().filter((other) => other !== session);
    order.splice(order.indexOf(slept), 1, session);
    this.#sessions.clear();
    for (const other of order) {
      this.#sessions.set(other.sessionId, other);
    }
    if (this.#active === slept.sessionId) {
      this.#active = session.sessionId;
    }
    if (slept !== session) {
      this.#superseded.fire({ slept, session });
    }
  }

  #onTranscript({ sessionId, blocks }: Transcript): void {
    if (this.#closed.has(sessionId)) {
      return;
    }
    const session = this.#known(sessionId);
    const entries: EntryBlock[] = [];
    for (const block of blocks) {
      if (isStatus(block)) {
        session.status = block;
        session.commands = block.commands ?? session.commands;
        session.agent = block.agent ?? session.agent;
        session.agentSessionId = block.agentSessionId ?? session.agentSessionId;
        session.cwd = block.cwd ?? session.cwd;
        this.#supersede(session);
      } else {
        session.blocks.set(block.id, block);
        entries.push(block);
      }
    }
    if (entries.length > 0) {
      this.#blocks.fire({ session, blocks: entries });
    }
    if (entries.length < blocks.length) {
      this.#changed.fire(undefined);
    }
  }
}

function isStatus(block: Block): block is StatusBlock {
  return block.kind === 'status';
}
