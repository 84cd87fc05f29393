import type { EntryBlock } from '../protocol.ts';

/** Milliseconds between two messages to the chat. */
export const INTERVAL = 30;

/** Blocks of one session on their way to the chat. */
export interface Delivery {
  sessionId: string;
  blocks: EntryBlock[];
  reset: boolean;
}

/**
 * Gathers changed blocks, so that a flood of them becomes a message every 30 ms with the last
 * state of each. While it is closed (the chat cannot be seen) it keeps only which have changed.
 */
export class Batch {
  readonly #blocksOf: (sessionId: string) => ReadonlyMap<string, EntryBlock> | undefined;
  readonly #deliver: (delivery: Delivery) => void;
  readonly #changed = new Map<string, Set<string> | 'all'>();
  #open = false;
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(
    blocksOf: (sessionId: string) => ReadonlyMap<string, EntryBlock> | undefined,
    deliver: (delivery: Delivery) => void,
  ) {
    this.#blocksOf = blocksOf;
    this.#deliver = deliver;
  }

  /** Takes note of changed blocks, in their order. */
  add(sessionId: string, ids: Iterable<string>): void {
    const known = this.#changed.get(sessionId);
    if (known === 'all') {
      return;
    }
    const changed = known ?? new Set<string>();
    for (const id of ids) {
      changed.add(id);
    }
    this.#changed.set(sessionId, changed);
    this.#wake();
  }

  /** All blocks of a session are to be sent anew. */
  reset(sessionId: string): void {
    this.#changed.set(sessionId, 'all');
    this.#wake();
  }

  /** Opens the way to the chat, or closes it. */
  setOpen(open: boolean): void {
    this.#open = open;
    if (open) {
      this.flush();
    } else {
      this.#stop();
    }
  }

  /** Sends what waits now. */
  flush(): void {
    this.#stop();
    if (!this.#open) {
      return;
    }
    const changed = [...this.#changed];
    this.#changed.clear();
    for (const [sessionId, ids] of changed) {
      const blocks = this.#blocksOf(sessionId);
      if (blocks) {
        this.#deliver(
          ids === 'all'
            ? { sessionId, blocks: [...blocks.values()], reset: true }
            : { sessionId, blocks: chosen(blocks, ids), reset: false },
        );
      }
    }
  }

  dispose(): void {
    this.#stop();
    this.#changed.clear();
    this.#open = false;
  }

  #wake(): void {
    if (this.#open) {
      this.#timer ??= setTimeout(() => this.flush(), INTERVAL);
    }
  }

  #stop(): void {
    if (this.#timer) {
      clearTimeout(this.#timer);
      this.#timer = null;
    }
  }
}

function chosen(blocks: ReadonlyMap<string, EntryBlock>, ids: Set<string>): EntryBlock[] {
  return [...ids].flatMap((id) => blocks.get(id) ?? []);
}
