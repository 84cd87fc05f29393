/** The restarts of a sidecar that ends by itself: four in three minutes, then no more. */
export class Deaths {
  readonly #times: number[] = [];

  /** Notes one, `now` in milliseconds; whether the sidecar is to be started again. */
  add(now: number): boolean {
    this.#times.push(now);
    return this.#times.filter((time) => now - time < 180_000).length <= 4;
  }

  /** Starts counting anew: the user has asked for a start. */
  clear(): void {
    this.#times.length = 0;
  }
}
