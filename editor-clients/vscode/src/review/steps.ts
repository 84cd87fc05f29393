import { commands, type Disposable, ProgressLocation, window } from 'vscode';

import { messageOf, showError } from '../failure.ts';
import type { ReviewStep } from '../protocol.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { Sidecar } from '../sidecar.ts';
import { withoutIcons, withoutLinks } from '../visible.ts';
import { didSomething, joined, nothing, report, type Step } from './outcome.ts';

/** What a keep or a revert is about: a hunk, a file, or all of a session. */
export interface Target {
  sessionId: string;
  uri?: string;
  hunkId?: string;
}

const COMMANDS: Readonly<Record<string, Step>> = {
  'acp.review.keep': 'keep',
  'acp.review.revert': 'revert',
  'acp.review.undo': 'undo',
  'acp.checkpoint.restore': 'restore',
};

/**
 * Keeps, reverts and undoes, and tells what came of it. What the user did at once is one step
 * to undo, of however many commands it was.
 */
export class Steps implements Disposable {
  readonly #sidecar: Sidecar;
  readonly #sessions: Sessions;
  readonly #subscriptions: Disposable[];
  /** The session of each command of each step, the last step at the end. */
  readonly #steps: string[][] = [];

  constructor(sidecar: Sidecar, sessions: Sessions) {
    this.#sidecar = sidecar;
    this.#sessions = sessions;
    // Code lenses and code actions run the sidecar's commands by the language client.
    const ran = sidecar.onDidRunCommand(({ command, argument, result }) => {
      const step = COMMANDS[command];
      if (step) {
        const { sessionId } = (argument ?? {}) as { sessionId?: string };
        this.#tell(step, result as ReviewStep, sessionId ? [sessionId] : []);
      }
    });
    // Another sidecar knows nothing of the steps of this one.
    const gone = sidecar.onDidChangeRunning(() => {
      this.#steps.length = 0;
      void commands.executeCommand('setContext', 'acp.hasReviewed', false);
    });
    this.#subscriptions = [ran, gone];
  }

  async keep(targets: readonly Target[]): Promise<void> {
    await this.#run('keep', 'acp.review.keep', targets);
  }

  async revert(targets: readonly Target[]): Promise<void> {
    await this.#run('revert', 'acp.review.revert', targets);
  }

  async restore(sessionId: string, checkpointId: string): Promise<void> {
    await this.#run('restore', 'acp.checkpoint.restore', [{ sessionId, checkpointId }]);
  }

  /** Takes back what the user did last. */
  async undo(): Promise<void> {
    const last = this.#steps.pop();
    const session = this.#sessions.active;
    const sessions = last?.reverse() ?? (session ? [session.sessionId] : []);
    await this.#run(
      'undo',
      'acp.review.undo',
      sessions.map((sessionId) => ({ sessionId })),
    );
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) {
      subscription.dispose();
    }
  }

  async #run(
    step: Step,
    command: string,
    targets: readonly (Target | { sessionId: string; checkpointId: string })[],
  ): Promise<void> {
    let outcome = nothing();
    const sessions: string[] = [];
    const all = async () => {
      for (const target of targets) {
        let one: ReviewStep;
        try {
          one = await this.#sidecar.command<ReviewStep>(command, target);
        } catch (error) {
          one = { ...nothing(), problems: [messageOf(error)] };
        }
        outcome = joined(outcome, one);
        if (didSomething(one)) {
          sessions.push(target.sessionId);
        }
      }
    };
    await window.withProgress({ location: { viewId: 'acp.changes' } }, all);
    this.#tell(step, outcome, sessions);
  }

  #tell(step: Step, outcome: ReviewStep, sessions: string[]): void {
    if (step !== 'undo' && didSomething(outcome) && sessions.length > 0) {
      this.#steps.push(sessions);
      void commands.executeCommand('setContext', 'acp.hasReviewed', true);
    }
    const { text, isPartial } = report(step, outcome);
    if (isPartial) {
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
