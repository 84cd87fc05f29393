/** Lines that can be seen, from 0, the last one included. */
export interface Seen {
  first: number;
  last: number;
}

/**
 * Tells the user's scrolling from our own, which always goes towards the place that is shown:
 * in one step, or in many where VS Code scrolls smoothly.
 */
export class Scrolling {
  #line: number | null = null;
  #seen: Seen | null = null;

  /** A place was shown, at a line or at none. */
  revealed(line: number | null, seen: Seen | null): void {
    this.#line = line;
    this.#seen = seen;
  }

  /** The line of the place has moved with the text. */
  moved(line: number): void {
    this.#line = line;
  }

  /** Takes what can be seen now for our own doing. */
  settle(seen: Seen | null): void {
    this.#seen = seen;
  }

  /** Other lines can be seen: whether that was the user. */
  isUsers(seen: Seen): boolean {
    const before = this.#seen;
    this.#seen = seen;
    // An editor that grows or shrinks keeps its first line.
    if (before === null || before.first === seen.first) {
      return false;
    }
    return this.#line === null || distance(seen, this.#line) > distance(before, this.#line);
  }
}

function distance({ first, last }: Seen, line: number): number {
  return Math.abs((first + last) / 2 - line);
}
