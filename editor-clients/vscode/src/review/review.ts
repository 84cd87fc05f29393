import { commands, type Disposable, type Event, EventEmitter, Uri, window } from 'vscode';

import type { FileChange } from '../protocol.ts';
import type { Session, Sessions } from '../sessions/sessions.ts';
import { byPath, type ReviewSession } from './changes.ts';

/** A changed file of one session. */
export interface ReviewedFile {
  session: ReviewSession;
  change: FileChange;
}

/**
 * What waits for review over all sessions, and the context keys that say so:
 * `acp.hasChanges`, and `acp.changedFiles` with those of them that are on the screen.
 */
export class Review implements Disposable {
  readonly #sessions: Sessions;
  readonly #changed = new EventEmitter<undefined>();
  readonly #subscriptions: Disposable[];
  /** What `#byFile` was made of. */
  #seen = new Map<string, readonly FileChange[]>();
  #byFile = new Map<string, ReviewedFile[]>();

  constructor(sessions: Sessions) {
    this.#sessions = sessions;
    this.#subscriptions = [
      sessions.onDidChangeReview(() => this.#look()),
      // A session may have been closed.
      sessions.onDidChange(() => this.#look()),
      window.onDidChangeVisibleTextEditors(() => this.#publish()),
    ];
    this.#publish();
  }

  /** Something else waits. */
  get onDidChange(): Event<undefined> {
    return this.#changed.event;
  }

  /** The sessions of which something waits, in the order of opening. */
  sessions(): ReviewSession[] {
    return this.#sessions
      .all()
      .filter(({ changes }) => changes.length > 0)
      .map(asReviewed);
  }

  /** The changed file that a document is, one entry a session. */
  of(uri: Uri): readonly ReviewedFile[] {
    return this.#byFile.get(uri.toString()) ?? [];
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) {
      subscription.dispose();
    }
    this.#changed.dispose();
  }

  #look(): void {
    const now = new Map(
      this.#sessions
        .all()
        .filter(({ changes }) => changes.length > 0)
        .map((session) => [session.sessionId, session.changes] as const),
    );
    const isSame =
      now.size === this.#seen.size && [...now].every(([id, it]) => this.#seen.get(id) === it);
    if (isSame) {
      return;
    }
    this.#seen = now;
    this.#byFile = new Map();
    for (const session of this.sessions()) {
      for (const change of session.changes) {
        const key = keyOf(change.uri);
        this.#byFile.set(key, [...(this.#byFile.get(key) ?? []), { session, change }]);
      }
    }
    this.#publish();
    this.#changed.fire(undefined);
  }

  #publish(): void {
    // By path: in a browser the same file has another scheme where `when` clauses look.
    const shown = window.visibleTextEditors
      .map(({ document }) => document.uri)
      .filter((uri) => this.of(uri).length > 0)
      .flatMap((uri) => [uri.fsPath, uri.path]);
    void commands.executeCommand('setContext', 'acp.hasChanges', this.#seen.size > 0);
    void commands.executeCommand('setContext', 'acp.changedFiles', [...new Set(shown)]);
  }
}

/** How VS Code writes a URI: the same file may be written in several ways. */
function keyOf(uri: string): string {
  return Uri.parse(uri).toString();
}

function asReviewed(session: Session): ReviewSession {
  const { sessionId, agent, status } = session;
  let changes = sorted.get(session.changes);
  if (!changes) {
    changes = byPath(session.changes);
    sorted.set(session.changes, changes);
  }
  return { sessionId, agent: agent || 'The agent', title: status?.title ?? null, changes };
}

const sorted = new WeakMap<readonly FileChange[], readonly FileChange[]>();
