/** The part of VS Code's `CancellationToken` that is needed. */
export interface Cancellation {
  readonly isCancellationRequested: boolean;
  onCancellationRequested(listener: () => void): { dispose(): unknown };
}

interface Entry<P, A> {
  params: P;
  settle(answer: A | null): void;
}

/**
 * Requests that wait for the user, in order of arrival. Each is settled once: by an answer,
 * by `$/cancelRequest` (its token), or because there is nobody left to answer.
 */
export class Waiting<P extends { requestId: string }, A> {
  readonly #entries = new Map<string, Entry<P, A>>();
  readonly #changed: () => void;

  /** `changed` is called after what waits is another. */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** Oldest first. */
  all(): P[] {
    return [...this.#entries.values()].map(({ params }) => params);
  }

  get(requestId: string): P | undefined {
    return this.#entries.get(requestId)?.params;
  }

  /** Waits for the answer; null where there is none. */
  wait(params: P, token: Cancellation): Promise<A | null> {
    if (token.isCancellationRequested) {
      return Promise.resolve(null);
    }
    const { requestId } = params;
    this.#entries.get(requestId)?.settle(null);
    return new Promise((resolve) => {
      const entry: Entry<P, A> = {
        params,
        settle: (answer) => {
          if (this.#entries.get(requestId) === entry) {
            this.#entries.delete(requestId);
            cancelled.dispose();
            resolve(answer);
            this.#changed();
          }
        },
      };
      this.#entries.set(requestId, entry);
      const cancelled = token.onCancellationRequested(() => entry.settle(null));
      this.#changed();
    });
  }

  /** Gives the answer; false where no request of this id waits (any more). */
  settle(requestId: string, answer: A | null): boolean {
    const entry = this.#entries.get(requestId);
    entry?.settle(answer);
    return entry !== undefined;
  }

  /** Closes all of them, unanswered. */
  close(): void {
    for (const entry of [...this.#entries.values()]) {
      entry.settle(null);
    }
  }
}
