import { type Disposable, type Event, EventEmitter } from 'vscode';

import type { Elicitation, ElicitationAnswer } from '../protocol.ts';
import type { Sidecar } from '../sidecar.ts';
import { Waiting } from './waiting.ts';

/**
 * What agents want to know and has no answer yet. What is filled in goes to the sidecar and
 * is kept nowhere: it may be a secret. A form that does not fit comes again.
 */
export class Elicitations implements Disposable {
  readonly #waiting: Waiting<Elicitation, ElicitationAnswer>;
  readonly #changed = new EventEmitter<undefined>();
  readonly #subscription: Disposable;

  /** Before the sidecar's first start. */
  constructor(sidecar: Sidecar) {
    this.#waiting = new Waiting(() => this.#changed.fire(undefined));
    sidecar.onRequest<Elicitation, unknown>('acp/elicitation', (form, token) =>
      this.#waiting.wait(form, token),
    );
    this.#subscription = sidecar.onDidChangeRunning((running) => {
      if (!running) {
        this.#waiting.close();
      }
    });
  }

  /** A form has come, or is settled. */
  get onDidChange(): Event<undefined> {
    return this.#changed.event;
  }

  /** Oldest first. */
  all(): Elicitation[] {
    return this.#waiting.all();
  }

  get(requestId: string): Elicitation | undefined {
    return this.#waiting.get(requestId);
  }

  /** Answers a form, with the user's no as well. False where it does not wait any more. */
  answer(requestId: string, answer: ElicitationAnswer): boolean {
    return this.#waiting.settle(requestId, answer);
  }

  dispose(): void {
    this.#waiting.close();
    this.#subscription.dispose();
    this.#changed.dispose();
  }
}
