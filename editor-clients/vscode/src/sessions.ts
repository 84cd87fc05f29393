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
} from './protocol.ts';
import type { Sidecar } from './sidecar.ts';

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
}

/** The sessions that are open in this window. */
export class Sessions implements Disposable {
  readonly #sidecar: Sidecar;
  readonly #sessions = new Map<string, Session>();
  readonly #changed = new EventEmitter<undefined>();
  readonly #blocks = new EventEmitter<{ session: Session; blocks: EntryBlock[] }>();
  readonly #reviewed = new EventEmitter<Session>();
  readonly #followed = new EventEmitter<Session>();
  #active: string | null = null;

  constructor(sidecar: Sidecar) {
    this.#sidecar = sidecar;
    sidecar.onNotification<Transcript>('acp/transcript', (it) => this.#onTranscript(it));
    sidecar.onNotification<Changes>('acp/changes', ({ sessionId, changes }) => {
      const session = this.#known(sessionId);
      session.changes = changes;
      this.#reviewed.fire(session);
      this.#changed.fire(undefined);
    });
    sidecar.onNotification<Follow>('acp/follow', (follow) => {
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

  /** Starts a session. Throws the sidecar's error. */
  async start(agent: string | null, cwd: string): Promise<Session> {
    const opened = await this.#sidecar.command<OpenedSession>('acp.session.new', {
      ...(agent ? { agent } : {}),
      cwd,
    });
    return this.opened(opened, cwd);
  }

  /** Takes in what `acp.session.new`, `.load`, `.resume` or `.fork` has answered. */
  opened(opened: OpenedSession, cwd: string): Session {
    const session = this.#known(opened.sessionId);
    session.agent = opened.agent;
    session.agentSessionId = opened.agentSessionId;
    session.cwd = cwd;
    session.commands = opened.commands;
    this.#active = session.sessionId;
    this.#changed.fire(undefined);
    return session;
  }

  async close(sessionId: string): Promise<void> {
    await this.#sidecar.command('acp.session.close', { sessionId });
    this.#sessions.delete(sessionId);
    if (this.#active === sessionId) {
      this.#active = [...this.#sessions.keys()].at(-1) ?? null;
    }
    this.#changed.fire(undefined);
  }

  /** Forgets everything that lived in the sidecar. */
  clear(): void {
    this.#sessions.clear();
    this.#active = null;
    this.#changed.fire(undefined);
  }

  dispose(): void {
    this.#changed.dispose();
    this.#blocks.dispose();
    this.#reviewed.dispose();
    this.#followed.dispose();
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
    };
    this.#sessions.set(sessionId, session);
    this.#active ??= sessionId;
    return session;
  }

  #onTranscript({ sessionId, blocks }: Transcript): void {
    const session = this.#known(sessionId);
    const entries: EntryBlock[] = [];
    for (const block of blocks) {
      if (isStatus(block)) {
        session.status = block;
        session.commands = block.commands ?? session.commands;
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
