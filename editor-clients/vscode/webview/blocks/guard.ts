/** So long a button must have been where it is, or have had the focus, before it answers. */
const GUARD_MS = 500;

/** What to tell the user of a press that does not count. */
export const TOO_SOON = 'This has just come or moved here: look again, then press.';

/**
 * Keeps buttons from being pressed by chance: by a pointer that they came under, by a key that
 * was meant for what had the focus before. `shownAt` says since when they are where they are.
 */
export class Guard {
  readonly #shownAt: () => number;
  readonly #refused: () => void;
  readonly #focusedAt = new WeakMap<Element, number>();
  #pressedAt = 0;

  constructor(shownAt: () => number, refused: () => void) {
    this.#shownAt = shownAt;
    this.#refused = refused;
  }

  /** Calls `answer` when the user presses the button, and means it. */
  watch(button: HTMLElement, answer: () => void): void {
    button.addEventListener('focus', () => this.#focusedAt.set(button, performance.now()));
    button.addEventListener('pointerdown', (event) => {
      this.#pressedAt = event.timeStamp;
    });
    button.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' || event.key === ' ') {
        // The card's own keys are not asked; and a key that is held presses once.
        event.stopPropagation();
        if (event.repeat) {
          event.preventDefault();
        }
      }
    });
    button.addEventListener('click', (event) => {
      const byKey = event.detail === 0;
      const since = byKey ? (this.#focusedAt.get(button) ?? Infinity) : 0;
      const pressed = byKey ? event.timeStamp : this.#pressedAt;
      if (pressed - Math.max(since, this.#shownAt()) < GUARD_MS) {
        this.#refused();
      } else {
        answer();
      }
    });
  }
}
