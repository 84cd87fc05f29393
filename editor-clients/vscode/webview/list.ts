import { element } from './element.ts';
import { Heights } from './heights.ts';
import { afterPress } from './pressing.ts';

/** What a list draws of a row. */
export interface Row {
  element: HTMLElement;
  /** Draws what is new about it; it may replace its children, never `element`. */
  update: () => void;
  /** Called when it leaves the page. */
  dispose?: () => void;
}

export interface Rows {
  /** Makes the row of a key; its `element` is put into the page. */
  make: (key: string) => Row;
  /** Pixels it is likely to take, until it has been seen. */
  estimate: (key: string) => number;
}

/** Where a list was left, to come back to. */
export interface Position {
  key: string | null;
  /** Of the row's top below that of the list. */
  offset: number;
  /** It was at its end and goes along with it. */
  atEnd: boolean;
}

/** Rows beyond the visible part that are drawn. */
const MARGIN = 600;
/** So near to the end a user who scrolls down means the end. */
const NEAR = 32;

/**
 * A scrolled list of which only what is visible, and a margin, is in the page. It stays at its
 * end while the user is there; otherwise what the user reads stays where it is, whatever
 * happens above it. A row with the focus or an end of the selection stays in the page.
 */
export class List {
  readonly element: HTMLElement;
  readonly #feed: HTMLElement;
  readonly #rows: Rows;
  readonly #heights = new Heights();
  readonly #measured = new Map<string, number>();
  readonly #shown = new Map<string, Row>();
  readonly #keyOf = new WeakMap<Element, string>();
  readonly #indexOf = new Map<string, number>();
  readonly #moved = new Map<string, { top: number; time: number }>();
  readonly #observer: ResizeObserver;
  readonly #onScroll: () => void;
  #keys: readonly string[] = [];
  #anchor: Position = { key: null, offset: 0, atEnd: true };
  #scrolledTo = 0;
  #width = 0;
  #frame = 0;
  #current: string | null = null;
  #tabbed = false;

  constructor(label: string, rows: Rows, onScroll: () => void) {
    this.#rows = rows;
    this.#onScroll = onScroll;
    this.#feed = element('div', { class: 'feed', role: 'feed', 'aria-label': label });
    this.element = element('div', { class: 'scroller' }, this.#feed);
    this.element.addEventListener('scroll', () => this.#scrolled(), { passive: true });
    this.#feed.addEventListener('focusin', (event) => {
      const key = this.keyOf(event.target as Element);
      const stop = this.#stop();
      if (this.#tabbed && stop !== null) {
        // Whoever comes by Tab comes to a row, not to what is drawn beyond the edge.
        this.#tabbed = false;
        this.focus(stop);
      } else if (key !== null) {
        this.#setCurrent(key);
      }
    });
    window.addEventListener(
      'keydown',
      (event) => {
        this.#tabbed = event.key === 'Tab' && !this.#feed.contains(event.target as Node);
        setTimeout(() => {
          this.#tabbed = false;
        });
      },
      true,
    );
    this.#observer = new ResizeObserver((entries) => this.#resized(entries));
    this.#observer.observe(this.element);
  }

  get keys(): readonly string[] {
    return this.#keys;
  }

  /** The row that has, or had, the focus. */
  get current(): string | null {
    return this.#current;
  }

  /** Whether the end is in sight and kept there. */
  get atEnd(): boolean {
    return this.#anchor.atEnd;
  }

  get position(): Position {
    return { ...this.#anchor };
  }

  /** These rows, in order. Those that are drawn already stay as they are. */
  setKeys(keys: readonly string[]): void {
    let same = 0;
    const most = Math.min(keys.length, this.#keys.length);
    while (same < most && keys[same] === this.#keys[same]) {
      same += 1;
    }
    for (const key of this.#keys.slice(same)) {
      this.#indexOf.delete(key);
    }
    this.#heights.truncate(same);
    keys.slice(same).forEach((key, index) => {
      this.#indexOf.set(key, same + index);
      this.#heights.push(this.#measured.get(key) ?? this.#rows.estimate(key));
    });
    this.#keys = keys;
    for (const key of [...this.#shown.keys()]) {
      if (!this.#indexOf.has(key)) {
        this.#drop(key);
      }
    }
    this.schedule();
  }

  /** Other rows altogether, at the place where they were left. */
  reset(keys: readonly string[], position: Position | null): void {
    for (const key of [...this.#shown.keys()]) {
      this.#drop(key);
    }
    this.#measured.clear();
    this.#moved.clear();
    this.#current = null;
    this.#anchor = position ?? { key: null, offset: 0, atEnd: true };
    this.#heights.truncate(0);
    this.#indexOf.clear();
    this.#keys = [];
    this.setKeys(keys);
  }

  /** A row's content is another; where it is drawn it is drawn anew. */
  update(key: string): void {
    this.#shown.get(key)?.update();
    this.schedule();
  }

  /** Pixels a row takes, as far as is known. */
  heightAt(index: number): number {
    return this.#heights.at(index);
  }

  /** The element of a row that is in the page. */
  elementOf(key: string): HTMLElement | null {
    return this.#shown.get(key)?.element ?? null;
  }

  /** The row that an element of the page belongs to. */
  keyOf(inside: Element | null): string | null {
    const row = inside?.closest('.feed > *');
    return (row && this.#keyOf.get(row)) ?? null;
  }

  /** Keys of the rows in the page, in order. */
  drawn(): string[] {
    return [...this.#shown.keys()].sort((a, b) => this.#index(a) - this.#index(b));
  }

  /** When a row last moved under the pointer without the user's doing; `performance.now()`. */
  movedAt(key: string): number {
    return this.#moved.get(key)?.time ?? 0;
  }

  /** Brings a row into sight: near the top, unless it is seen whole. */
  reveal(key: string): void {
    const index = this.#indexOf.get(key);
    if (index === undefined) {
      return;
    }
    const top = this.#heights.top(index);
    const height = this.#heights.at(index);
    const seen = this.element.scrollTop;
    if (top < seen || top + height > seen + this.element.clientHeight || !this.#shown.has(key)) {
      const room = Math.max(this.element.clientHeight - height, 0);
      this.#anchor = { key, offset: Math.min(room / 2, 48), atEnd: false };
      this.layout(true);
    }
  }

  /** Goes to the end and stays there. */
  toEnd(): void {
    this.#anchor = { key: null, offset: 0, atEnd: true };
    this.layout(true);
  }

  /** Puts the focus on a row, which is brought into sight. */
  focus(key: string): void {
    this.reveal(key);
    this.#setCurrent(key);
    this.elementOf(key)?.focus({ preventScroll: true });
  }

  /** Lays out before the next frame. */
  schedule(): void {
    if (this.#frame === 0) {
      this.#frame = requestAnimationFrame(() =>
        afterPress(() => {
          this.#frame = 0;
          this.layout();
        }),
      );
    }
  }

  /** Draws what is to be seen, and puts it where it belongs. */
  layout(byUser = false): void {
    if (this.element.clientHeight === 0) {
      return;
    }
    // What is drawn for the first time may be higher or lower than was thought, and then other
    // rows are to be seen.
    for (let round = 0; round < 6; round += 1) {
      const [first, last] = this.#range();
      let changed = false;
      for (let index = first; index <= last; index += 1) {
        const key = this.#keys[index];
        if (key !== undefined && !this.#shown.has(key)) {
          this.#draw(key);
          changed = true;
        }
      }
      if (!changed && round > 0) {
        break;
      }
      this.#measure();
      this.#dropBeyond(...this.#range());
    }
    this.#place(byUser);
  }

  /** The first and last row to draw, for where the list is to be. */
  #range(): [number, number] {
    const top = this.#goal();
    const first = this.#heights.find(Math.max(top - MARGIN, 0));
    const last = this.#heights.find(top + this.element.clientHeight + MARGIN);
    return this.#keys.length === 0 ? [0, -1] : [first, last];
  }

  /** Where the list is to be scrolled to. */
  #goal(): number {
    const most = Math.max(this.#heights.total - this.element.clientHeight, 0);
    const index = this.#anchor.key === null ? undefined : this.#indexOf.get(this.#anchor.key);
    if (this.#anchor.atEnd) {
      return most;
    }
    const top =
      index === undefined ? this.#scrolledTo : this.#heights.top(index) - this.#anchor.offset;
    return Math.min(Math.max(Math.round(top), 0), most);
  }

  #draw(key: string): void {
    const row = this.#rows.make(key);
    const index = this.#index(key);
    this.#keyOf.set(row.element, key);
    let next: Element | null = null;
    for (const [other, { element: at }] of this.#shown) {
      const place = this.#index(other);
      if (place > index && (next === null || place < this.#index(this.#keyOf.get(next) ?? ''))) {
        next = at;
      }
    }
    this.#feed.insertBefore(row.element, next);
    this.#shown.set(key, row);
    this.#observer.observe(row.element);
  }

  #drop(key: string): void {
    const row = this.#shown.get(key);
    if (row) {
      this.#observer.unobserve(row.element);
      row.element.remove();
      row.dispose?.();
      this.#shown.delete(key);
      this.#moved.delete(key);
    }
  }

  #dropBeyond(first: number, last: number): void {
    const kept = this.#kept();
    for (const key of [...this.#shown.keys()]) {
      const index = this.#index(key);
      if ((index < first || index > last) && !kept.has(key)) {
        this.#drop(key);
      }
    }
  }

  #kept(): Set<string | null> {
    const selection = document.getSelection();
    const rowOf = (node: Node | null | undefined) =>
      this.keyOf(node instanceof Element ? node : (node?.parentElement ?? null));
    const kept = new Set<string | null>([rowOf(document.activeElement)]);
    if (selection && !selection.isCollapsed) {
      kept.add(rowOf(selection.anchorNode)).add(rowOf(selection.focusNode));
    }
    return kept;
  }

  #measure(): void {
    for (const [key, { element: row }] of this.#shown) {
      this.#setHeight(key, row.getBoundingClientRect().height);
    }
  }

  #setHeight(key: string, height: number): boolean {
    const index = this.#index(key);
    this.#measured.set(key, height);
    if (Math.abs(this.#heights.at(index) - height) < 0.1) {
      return false;
    }
    this.#heights.set(index, height);
    return true;
  }

  #place(byUser: boolean): void {
    this.#feed.style.height = `${this.#heights.total}px`;
    const goal = this.#goal();
    const now = performance.now();
    for (const [key, { element: row }] of this.#shown) {
      const index = this.#index(key);
      const top = this.#heights.top(index);
      row.style.transform = `translateY(${top}px)`;
      row.setAttribute('aria-posinset', String(index + 1));
      row.setAttribute('aria-setsize', String(this.#keys.length));
      const before = this.#moved.get(key);
      if (!before || (!byUser && Math.abs(before.top - (top - goal)) > 2)) {
        this.#moved.set(key, { top: top - goal, time: now });
      } else {
        before.top = top - goal;
      }
    }
    this.#setTabStop();
    if (Math.abs(this.element.scrollTop - goal) >= 1) {
      this.element.scrollTop = goal;
    }
    this.#scrolledTo = this.element.scrollTop;
    this.#remember();
    this.#onScroll();
  }

  #scrolled(): void {
    const top = this.element.scrollTop;
    if (Math.abs(top - this.#scrolledTo) < 1) {
      return;
    }
    const down = top > this.#scrolledTo;
    const left = this.element.scrollHeight - this.element.clientHeight - top;
    this.#scrolledTo = top;
    this.#anchor.atEnd = left <= 1 || (down && left <= NEAR);
    if (!this.#anchor.atEnd) {
      this.#anchor.key = null;
    }
    this.#remember();
    this.layout(true);
  }

  /** What is read: the first row in sight, and how far it is scrolled out. */
  #remember(): void {
    if (this.#heights.total - this.element.clientHeight - this.#scrolledTo <= 1) {
      this.#anchor = { key: null, offset: 0, atEnd: true };
    }
    if (this.#anchor.atEnd) {
      return;
    }
    const index = this.#heights.find(this.#scrolledTo);
    const key = this.#keys[index] ?? null;
    this.#anchor = { key, offset: this.#heights.top(index) - this.#scrolledTo, atEnd: false };
  }

  #resized(entries: ResizeObserverEntry[]): void {
    let changed = false;
    for (const entry of entries) {
      const key = this.#keyOf.get(entry.target);
      if (key !== undefined && this.#shown.has(key)) {
        changed = this.#setHeight(key, entry.target.getBoundingClientRect().height) || changed;
      } else if (entry.target === this.element) {
        changed = true;
        if (entry.contentRect.width !== this.#width) {
          this.#width = entry.contentRect.width;
          // Heights of rows that are not drawn are of another width.
          this.#measured.clear();
        }
      }
    }
    if (changed) {
      // Rows to draw wait for the frame: none may be added while sizes are told.
      this.#place(false);
      this.schedule();
    }
  }

  #index(key: string): number {
    return this.#indexOf.get(key) ?? -1;
  }

  #setCurrent(key: string): void {
    this.#current = key;
    this.#setTabStop();
  }

  #setTabStop(): void {
    const stop = this.#stop();
    for (const [key, { element: row }] of this.#shown) {
      row.tabIndex = key === stop ? 0 : -1;
    }
  }

  /** The row that Tab leads to: the current one, else the last that is seen. */
  #stop(): string | null {
    if (this.#current !== null && this.#shown.has(this.#current)) {
      return this.#current;
    }
    const last = this.#heights.find(this.#scrolledTo + this.element.clientHeight - 1);
    return this.#keys[last] ?? null;
  }
}
