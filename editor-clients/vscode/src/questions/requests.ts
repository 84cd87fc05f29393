import { type CancellationToken, type Disposable, type Event, EventEmitter } from 'vscode';

import type { Sidecar } from '../sidecar.ts';
import { Waiting } from './waiting.ts';

/** Requests of the sidecar's that wait for the user, until they are settled or it is gone. */
export class Requests<P extends { requestId: string }, A> implements Disposable {
  readonly #waiting: Waiting<P, A>;
  readonly #changed = new EventEmitter<undefined>();
  readonly #subscription: Disposable;

  /** Before the sidecar's first start. */
  constructor(sidecar: Sidecar, method: string) {
    this.#waiting = new Waiting(() => this.#changed.fire(undefined));
    sidecar.onRequest<P, unknown>(method, (params, token) => this.wait(params, token));
    this.#subscription = sidecar.onDidChangeRunning((running) => {
      if (!running) {
        this.#waiting.close();
      }
    });
  }

  /** One has come, or is settled. */
  get onDidChange(): Event<undefined> {
    return this.#changed.event;
  }

  /** Oldest first. */
  all(): P[] {
    return this.#waiting.all();
  }

  get(requestId: string): P | undefined {
    return this.#waiting.get(requestId);
  }

  dispose(): void {
    this.#waiting.close();
    this.#subscription.dispose();
    this.#changed.dispose();
  }

  /** Waits for the answer; null where there is none. */
  protected wait(params: P, token: CancellationToken): Promise<A | null> {
    return this.#waiting.wait(params, token);
  }

  /** Gives the answer; false where no request of this id waits (any more). */
  protected settle(requestId: string, answer: A): boolean {
    return this.#waiting.settle(requestId, answer);
  }
}
