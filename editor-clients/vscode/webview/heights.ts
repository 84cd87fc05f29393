/**
 * Heights of a list's rows: sums and look-ups in logarithmic time (a Fenwick tree), so that a
 * list of ten thousand rows costs no more than a short one.
 */
export class Heights {
  #values: number[] = [];
  #tree: number[] = [0];

  get length(): number {
    return this.#values.length;
  }

  /** Of all rows. */
  get total(): number {
    return this.top(this.#values.length);
  }

  /** Of one row, 0 where there is none. */
  at(index: number): number {
    return this.#values[index] ?? 0;
  }

  push(height: number): void {
    this.#values.push(height);
    const place = this.#values.length;
    const low = place & -place;
    // What the node covers: itself and the rows before it that no other node on the way has.
    let sum = height;
    for (let child = place - 1; child > place - low; child -= child & -child) {
      sum += this.#tree[child] ?? 0;
    }
    this.#tree[place] = sum;
  }

  set(index: number, height: number): void {
    const change = height - this.at(index);
    if (change === 0 || index >= this.#values.length) {
      return;
    }
    this.#values[index] = height;
    for (let place = index + 1; place <= this.#values.length; place += place & -place) {
      this.#tree[place] = (this.#tree[place] ?? 0) + change;
    }
  }

  /** Forgets the rows from `length` on. */
  truncate(length: number): void {
    this.#values.length = Math.min(length, this.#values.length);
    this.#tree.length = this.#values.length + 1;
  }

  /** Where a row begins: the heights of all before it. */
  top(index: number): number {
    let sum = 0;
    for (let place = Math.min(index, this.#values.length); place > 0; place -= place & -place) {
      sum += this.#tree[place] ?? 0;
    }
    return sum;
  }

  /** The row that covers an offset; the first or last one for an offset outside. */
  find(offset: number): number {
    let place = 0;
    let left = offset;
    for (let step = 2 ** Math.floor(Math.log2(this.#values.length || 1)); step > 0; step >>= 1) {
      const next = place + step;
      const sum = this.#tree[next];
      if (next <= this.#values.length && sum !== undefined && sum <= left) {
        place = next;
        left -= sum;
      }
    }
    return Math.max(0, Math.min(place, this.#values.length - 1));
  }
}
