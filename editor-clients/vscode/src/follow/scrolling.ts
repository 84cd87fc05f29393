/** Lines that can be seen, from 0, the last one included. */
export interface Seen {
  first: number;
  last: number;
}

/**
 * Tells the user's scrolling from our own. Ours is over when {@link settle} is called, but where
 * VS Code scrolls smoothly: there it goes on towards the place that is shown.
 */
export class Scrolling {
  #towards: number | null = null;
  #seen: Seen | null = null;

  /** A place is shown: at a line that is scrolled to smoothly, or with null in one step. */
  revealed(towards: number | null): void {
    this.#towards = towards;
    this.#seen = null;
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
    return (
      this.#towards === null || distance(seen, this.#towards) > distance(before, this.#towards)
    );
  }
}

function distance({ first, last }: Seen, line: number): number {
  return Math.abs((first + last) / 2 - line);
}
