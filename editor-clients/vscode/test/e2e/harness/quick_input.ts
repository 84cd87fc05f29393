/** The field with a list that drops down at the top: commands, files, whatever is to be picked. */

import { errors, type Locator, type Page } from 'playwright-core';

import { press, restMouse } from './mouse.ts';
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
    this.widget = page.locator('.quick-input-widget');
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

  /** Clicks the row with this label, again where the list does not take it: one may be too quick. */
  async choose(label: string): Promise<void> {
    await this.#take(`"${label}" is taken`, () => press(this.item(label)));
  }

  /** Presses Enter until the list takes it. */
  async accept(): Promise<void> {
    await this.#take('Enter is taken', () => this.#page.keyboard.press('Enter'));
  }

  /**
   * Opens the list by a key, types into its field until it has this row, and takes it.
   *
   * It types anew now and then: the list of commands does not grow by what an extension adds later.
   * And it opens the list again where that was closed, by what takes the focus late.
   */
  async find(key: string, text: string, label: string): Promise<void> {
    await this.#page.keyboard.press(key);
    await until(`the list has "${label}" for "${text}"`, async () => {
      try {
        await this.field.fill('>', { timeout: 1000 });
        await this.field.fill(text, { timeout: 1000 });
        await this.item(label).waitFor({ timeout: 1000 });
        return true;
      } catch (error) {
        if (!(error instanceof errors.TimeoutError)) {
          throw error;
        }
        if ((await this.#shows()) === null) {
          await this.#page.keyboard.press(key);
        }
        return false;
      }
    });
    await this.choose(label);
    await restMouse(this.#page);
  }

  async #take(what: string, act: () => Promise<void>): Promise<void> {
    await this.opened();
    const before = await this.#shows();
    await until(what, async () => {
      await act();
      return until('the list is another', async () => (await this.#shows()) !== before, 1).then(
        () => true,
        () => false,
      );
    });
  }

  /** All that it shows, as one text; null where it is closed. */
  async #shows(): Promise<string | null> {
    return this.#page.evaluate(() => {
      const widget = document.querySelector<HTMLElement>('.quick-input-widget');
      return widget?.offsetParent ? widget.innerText : null;
    });
  }
}
