import type { FileChange } from '../protocol.ts';
import type { Sidecar } from '../sidecar.ts';
import type { Place } from './changes.ts';
import { splitLines } from './markdown.ts';

/** The two texts of a changed file: before the agent, and as it is now. */
export interface Texts {
  before: string;
  after: string;
}

interface Kept {
  /** The entry that the texts were asked for. */
  of: string;
  texts: Promise<Texts>;
}

/** The texts of changed files, asked of the sidecar where they are needed, and kept. */
export class ReviewTexts {
  readonly #sidecar: Pick<Sidecar, 'command'>;
  readonly #kept = new Map<string, Kept>();

  constructor(sidecar: Pick<Sidecar, 'command'>) {
    this.#sidecar = sidecar;
  }

  /** Throws the sidecar's error. */
  async of(sessionId: string, change: FileChange): Promise<Texts> {
    const key = `${sessionId} ${change.uri}`;
    const of = JSON.stringify(change.hunks);
    const known = this.#kept.get(key);
    if (known?.of === of) {
      return known.texts;
    }
    const texts = this.ask(sessionId, change.uri, false);
    const kept = { of, texts };
    this.#kept.set(key, kept);
    texts.catch(() => {
      if (this.#kept.get(key) === kept) {
        this.#kept.delete(key);
      }
    });
    return texts;
  }

  /** Asks anew. `proposed`: the text as it is and as the agent would like it. */
  async ask(sessionId: string, uri: string, proposed: boolean): Promise<Texts> {
    return this.#sidecar.command<Texts>('acp.review.diff', { sessionId, uri, proposed });
  }

  /** Forgets the files that are not waited for any more; what is given is not. */
  prune(waiting: Iterable<{ sessionId: string; uri: string }>): void {
    const keys = new Set([...waiting].map(({ sessionId, uri }) => `${sessionId} ${uri}`));
    for (const key of this.#kept.keys()) {
      if (!keys.has(key)) {
        this.#kept.delete(key);
      }
    }
  }
}

/** The lines that a hunk took away. */
export function oldLines(place: Place, texts: Texts): string[] {
  return splitLines(texts.before).slice(place.before, place.before + place.gone);
}
