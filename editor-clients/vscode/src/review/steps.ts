import { commands, type Disposable, ProgressLocation, window } from 'vscode';

import { showError } from '../failure.ts';
import type { Range, ReviewStep } from '../protocol.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { Sidecar } from '../sidecar.ts';
import { withoutIcons, withoutLinks } from '../visible.ts';

/** What a keep or a revert is about: a hunk, a file, or all of a session. */
export interface Target {
  sessionId: string;
  uri?: string;
  hunkId?: string;
}

/** Lines of a document, as LSP counts. */
export interface Spot {
  uri: string;
  range: Range;
}

const KEEP = 'acp.review.keep';
const REVERT = 'acp.review.revert';
const UNDO = 'acp.review.undo';
const RESTORE = 'acp.checkpoint.restore';

/**
 * Keeps, reverts and undoes, and tells what came of it. What the user did at once is one step
 * to undo, of however many hunks it was.
 */
export class Steps implements Disposable {
  readonly #sidecar: Sidecar;
  readonly #sessions: Sessions;
  readonly #subscriptions: Disposable[];
  /** What takes each step back, the last step at the end. */
  readonly #undo: ReviewStep['undo'][] = [];

  constructor(sidecar: Sidecar, sessions: Sessions) {
    this.#sidecar = sidecar;
    this.#sessions = sessions;
    // Code lenses and code actions run the sidecar's commands by the language client.
    const ran = sidecar.onDidRunCommand(({ command, result }) => {
      if ([KEEP, REVERT, UNDO, RESTORE].includes(command)) {
        this.#tell(result as ReviewStep);
      }
    });
    // Another sidecar knows nothing of the steps of this one.
    const gone = sidecar.onDidChangeRunning(() => {
      this.#undo.length = 0;
      void commands.executeCommand('setContext', 'acp.hasReviewed', false);
    });
    this.#subscriptions = [ran, gone];
  }

  async keep(what: readonly Target[] | Spot): Promise<void> {
    await this.#run(KEEP, 'range' in what ? what : { targets: what });
  }

  async revert(what: readonly Target[] | Spot): Promise<void> {
    await this.#run(REVERT, 'range' in what ? what : { targets: what });
  }

  async restore(sessionId: string, checkpointId: string): Promise<void> {
    await this.#run(RESTORE, { sessionId, checkpointId });
  }

  /** Takes back what the user did last. */
  async undo(): Promise<void> {
    const session = this.#sessions.active;
    const targets = this.#undo.pop() ?? (session ? [{ sessionId: session.sessionId }] : []);
    await this.#run(UNDO, { targets });
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) {
      subscription.dispose();
    }
  }

  async #run(command: string, argument: object): Promise<void> {
    const work = () => this.#sidecar.command<ReviewStep>(command, argument);
    try {
      this.#tell(await window.withProgress({ location: { viewId: 'acp.changes' } }, work));
    } catch (error) {
      void showError(error);
    }
  }

  #tell({ text, partial, undo }: ReviewStep): void {
    if (undo.length > 0) {
      this.#undo.push(undo);
      void commands.executeCommand('setContext', 'acp.hasReviewed', true);
    }
    if (partial) {
      void window.showWarningMessage(withoutLinks(text));
    } else {
      window.setStatusBarMessage(`$(check) ${withoutIcons(withoutLinks(text))}`, 6000);
    }
  }
}

/** Runs something for the user and tells where it fails; with a progress where it takes long. */
export async function told<T>(title: string, work: () => Promise<T>): Promise<T | null> {
  try {
    return await window.withProgress({ location: ProgressLocation.Window, title }, work);
  } catch (error) {
    void showError(error);
    return null;
  }
}
