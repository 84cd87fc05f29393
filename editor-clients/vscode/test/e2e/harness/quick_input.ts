/** The field with a list that drops down at the top: commands, files, whatever is to be picked. */

import { errors, type Locator, type Page } from 'playwright-core';

import { restMouse } from './mouse.ts';
import { until } from './until.ts';

/** A row of the list. */
export interface Item {
  label: string;
  description: string;
  detail: string;
}

/** What {@link Workbench.quickPick} gives. */
export class QuickInput {
  readonly #page: Page;
  /** The whole of it. */
  readonly widget: Locator;
  /** The field. */
  readonly field: Locator;
  readonly #rows: Locator;

  constructor(page: Page) {
    this.#page = page;
    // One that is closed goes slowly; nothing in it can be used any more.
    this.widget = page.locator('.quick-input-widget:not([inert])');
    this.field = this.widget.locator('.quick-input-box input');
    this.#rows = this.widget.locator('.quick-input-list .monaco-list-row');
  }

  /** Whether it is open now. */
  async isOpen(): Promise<boolean> {
    return this.widget.isVisible();
  }

  /** Waits until it is open. */
  async opened(): Promise<this> {
    await this.widget.waitFor();
    return this;
  }

  /** Waits until it is closed. */
  async closed(): Promise<void> {
    await this.widget.waitFor({ state: 'hidden' });
  }

  /** Waits until one with this above its list is open: not the list of commands that led to it. */
  async titled(text: string | RegExp): Promise<this> {
    await this.widget.locator('.quick-input-title').filter({ hasText: text }).waitFor();
    return this;
  }

  /** The rows, as far as they can be seen without scrolling; waits for the first. */
  async items(): Promise<Item[]> {
    await this.#rows.first().waitFor();
    return this.#rows.evaluateAll((rows) => {
      const text = (row: Element, part: string): string =>
        (row.querySelector(part)?.textContent ?? '').replaceAll('\u00a0', ' ').trim();
      return rows
        .sort((one, other) => one.getBoundingClientRect().top - other.getBoundingClientRect().top)
        .map((row) => ({
          label: text(row, '.quick-input-list-label .label-name'),
          description: text(row, '.quick-input-list-label .label-description'),
          detail: text(row, '.quick-input-list-label-meta'),
        }));
    });
  }

  /** The row with exactly this label. */
  item(label: string): Locator {
    const escaped = label.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(' ', '\\s');
    const hasText = new RegExp(`^\\s*${escaped}\\s*$`);
    const name = this.#page.locator('.quick-input-list-label .label-name', { hasText });
    return this.#rows.filter({ has: name }).first();
  }

  /**
   * Clicks the row with this label, again where the list does not take it: one may be too quick.
   *
   * @throws Error the list was closed by something else
   */
  async choose(label: string): Promise<void> {
    if (!(await this.#chosen(label))) {
      throw new Error(`The list was closed before "${label}" was clicked.`);
    }
  }

  /** Goes down, and from the last row to the first, to the row with this label; false once it is closed. */
  async mark(label: string): Promise<boolean> {
    const marked = this.item(label).and(this.#page.locator('.focused'));
    await until(`"${label}" is marked`, async () => {
      if (!(await this.isOpen()) || (await marked.isVisible())) {
        return true;
      }
      await this.#page.keyboard.press('ArrowDown');
      return marked.isVisible();
    });
    return this.isOpen();
  }

  /** Presses Enter until the list takes it. */
  async accept(): Promise<void> {
    await this.opened();
    const taken = await this.#taken('Enter is taken', null, 1, () =>
      this.#page.keyboard.press('Enter'),
    );
    if (!taken) {
      throw new Error('The list was closed before Enter was pressed.');
    }
  }

  /**
   * Opens the list, types into its field until it has this row, and takes it.
   *
   * It types anew now and then: the list of commands does not grow by what an extension adds later.
   * And it opens the list again where that was closed, by what takes the focus late.
   */
  async find(text: string, label: string): Promise<void> {
    let patience = 1000;
    await until(`"${label}" is taken of the list for "${text}"`, async () => {
      try {
        if (!(await this.isOpen())) {
          // Also for files: of those Ctrl+P, pressed once more, would open the first.
          await this.#page.keyboard.press('F1');
          await this.widget.waitFor({ timeout: 5000 });
        }
        await this.field.fill('>', { timeout: patience });
        await this.field.fill(text, { timeout: patience });
        await this.item(label).waitFor({ timeout: patience });
        return await this.#chosen(label);
      } catch (error) {
        if (!(error instanceof errors.TimeoutError)) {
          throw error;
        }
        patience = Math.min(patience * 2, 8000);
        return false;
      }
    });
    await restMouse(this.#page);
  }

  /** Clicks a row until the list takes it; false where something else has closed the list. */
  async #chosen(label: string): Promise<boolean> {
    await this.item(label).waitFor();
    return this.#taken(`"${label}" is taken`, label, 5, async () => {
      await restMouse(this.#page);
      await this.item(label)
        .click({ timeout: 2000 })
        .catch(() => undefined);
    });
  }

  /**
   * Acts until the list is closed or another; false where it never heard of it.
   *
   * @param label the row that is clicked, null for the key Enter
   * @param seconds how long the list may think about it
   */
  async #taken(
    what: string,
    label: string | null,
    seconds: number,
    act: () => Promise<void>,
  ): Promise<boolean> {
    const watch = await this.widget.evaluateHandle(watched, label);
    const fate = () => watch.evaluate((it) => it.fate());
    await until(what, async () => {
      if ((await fate()).over) {
        return true;
      }
      await act();
      await until(
        'the list takes it or not',
        async () => {
          const { over, refused } = await fate();
          return over || refused;
        },
        seconds,
      ).catch(() => undefined);
      return (await fate()).over;
    });
    const { heard } = await fate();
    await watch.evaluate((it) => {
      it.stop();
    });
    return heard;
  }
}

/**
 * Runs in the page: watches what becomes of the list that is open now. That it is closed, or
 * another takes its place, is seen however soon the next one comes.
 */
function watched(widget: Element, label: string | null) {
  const rowText = (row: Element) =>
    row.querySelector('.quick-input-list-label .label-name')?.textContent.replaceAll('\u00a0', ' ');
  const isRow = (it: EventTarget) =>
    it instanceof Element && it.matches('.monaco-list-row') && rowText(it)?.trim() === label;
  let over = false;
  let heard = false;
  const types =
    label === null ? ['keydown'] : ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click'];
  const hear = (event: Event) => {
    const path = event.composedPath();
    const isMeant =
      event instanceof KeyboardEvent ? event.key === 'Enter' : label !== null && path.some(isRow);
    if (over && isMeant) {
      // It was meant for the list that was there before.
      event.preventDefault();
      event.stopImmediatePropagation();
    } else if (isMeant && path.includes(widget) && event.type === types.at(-1)) {
      heard = true;
    }
  };
  for (const type of types) {
    window.addEventListener(type, hear, true);
  }
  const observer = new MutationObserver((records) => {
    over ||= records.some(
      ({ target, attributeName, oldValue }) =>
        target !== widget ||
        attributeName === 'inert' ||
        (oldValue ?? '').includes('display: none') ||
        getComputedStyle(widget).display === 'none',
    );
  });
  const attributeFilter = ['style', 'inert'];
  observer.observe(widget, { attributes: true, attributeFilter, attributeOldValue: true });
  // Of each list that comes it is another, where it has one.
  const title = widget.querySelector('.quick-input-title');
  if (title) {
    observer.observe(title, { childList: true, characterData: true, subtree: true });
  }
  return {
    fate: () => ({
      over,
      heard,
      /** The row was clicked, and is not the one that is marked any more. */
      refused:
        heard &&
        [...widget.querySelectorAll('.monaco-list-row.focused')].every((row) => !isRow(row)),
    }),
    stop: () => {
      observer.disconnect();
      for (const type of types) {
        window.removeEventListener(type, hear, true);
      }
    },
  };
}
