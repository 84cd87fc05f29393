/** The columns of editors, their tabs and what stands in them. */

import type { Locator, Page } from 'playwright-core';

import { click, restMouse } from './mouse.ts';
import { until, untilSame } from './until.ts';

/** A tab. */
export interface Tab {
  /** What it says. */
  name: string;
  /** Its column from the left, 1 is the first. */
  column: number;
  /** Whether it is the one that is shown in its column. */
  shown: boolean;
  /** Whether its column has the focus. */
  active: boolean;
  /** Whether it has unsaved changes. */
  dirty: boolean;
  /** Whether the next file takes its place: its name is in italics. */
  preview: boolean;
}

/** What {@link Workbench.editors} gives. */
export class Editors {
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
  }

  /** All tabs, from left to right. */
  async tabs(): Promise<Tab[]> {
    return this.#page.locator('.editor-group-container').evaluateAll((groups) =>
      groups
        .filter((group) => group.getBoundingClientRect().width > 0)
        .sort((one, other) => one.getBoundingClientRect().left - other.getBoundingClientRect().left)
        .flatMap((group, index) =>
          [...group.querySelectorAll('.tabs-container .tab')].map((tab) => ({
            // The end of a name is an element of its own.
            name: ['.label-name', '.label-suffix']
              .map((part) => tab.querySelector(part)?.textContent ?? '')
              .join(''),
            column: index + 1,
            shown: tab.classList.contains('active'),
            active: group.classList.contains('active') && tab.classList.contains('active'),
            dirty: tab.classList.contains('dirty'),
            preview: tab.querySelector('.italic') !== null,
          })),
        ),
    );
  }

  /** The tab with this name, undefined where there is none. */
  async tab(name: string): Promise<Tab | undefined> {
    return (await this.tabs()).find((tab) => tab.name === name);
  }

  /** Waits until a file is shown; its column. */
  async shown(name: string): Promise<number> {
    const tab = await until(`${name} is shown`, async () =>
      (await this.tabs()).find((each) => each.name === name && each.shown),
    );
    await this.of(name).locator('.view-line').first().waitFor();
    return tab.column;
  }

  /** The editor of a file, named by the end of its path. */
  of(name: string): Locator {
    return this.#page
      .locator(`.editor-group-container .monaco-editor[data-uri$="/${encodeURI(name)}"]`)
      .filter({ visible: true })
      .first();
  }

  /** The lines of a file that can be seen, without line ends. */
  async lines(name: string): Promise<string[]> {
    return this.of(name)
      .locator('.view-lines > .view-line')
      .evaluateAll((lines) =>
        lines
          .sort((one, other) => one.getBoundingClientRect().top - other.getBoundingClientRect().top)
          .map((line) => line.textContent.replaceAll('\u00a0', ' ')),
      );
  }

  /** What can be seen of a file. */
  async text(name: string): Promise<string> {
    return (await this.lines(name)).join('\n');
  }

  /** Waits until just this can be seen of a file. */
  async reads(name: string, text: string): Promise<void> {
    await untilSame(`${name} reads so`, text, () => this.text(name));
  }

  /** Clicks into a file and puts the cursor: `end` of the file, or of a line, counted from 1. */
  async place(name: string, where: 'end' | number = 'end'): Promise<void> {
    const editor = this.of(name);
    await restMouse(this.#page);
    // A column that opens meanwhile makes it narrower: it is measured again.
    await until(`${name} is clicked`, async () => {
      const { width, height } = (await editor.boundingBox()) ?? { width: 0, height: 0 };
      // Far from what can be clicked: lenses, numbers of lines, bars to scroll with.
      const position = { x: width * 0.7, y: height * 0.45 };
      return editor.click({ position, timeout: 2000 }).then(
        () => true,
        () => false,
      );
    });
    if (where === 'end') {
      await this.#page.keyboard.press('Control+End');
      return;
    }
    await this.#page.keyboard.press('Control+Home');
    for (let line = 1; line < where; line += 1) {
      await this.#page.keyboard.press('ArrowDown');
    }
    await this.#page.keyboard.press('End');
  }

  /** Clicks into a file, at its end or that of a line counted from 1, and types. */
  async type(name: string, text: string, where: 'end' | number = 'end'): Promise<void> {
    await this.place(name, where);
    await this.#page.keyboard.type(text);
  }

  /** Clicks a lens (the small words above a line) of a file: the first of these, or the nth from 0. */
  async lens(name: string, title: string | RegExp, nth = 0): Promise<void> {
    const lenses = this.of(name).locator('.codelens-decoration a').filter({ hasText: title });
    await restMouse(this.#page);
    // VS Code draws them anew now and then, and runs what the mouse is let go over.
    await click(lenses.nth(nth), 'mouseup');
    await restMouse(this.#page);
  }

  /** The words of all lenses that can be seen, from above. */
  async lenses(name: string): Promise<string[]> {
    const texts = await this.of(name).locator('.codelens-decoration a').allInnerTexts();
    return texts.map((text) => text.replaceAll('\u00a0', ' ').trim());
  }

  /** Saves the file that has the focus. */
  async save(): Promise<void> {
    await this.#page.keyboard.press('Control+s');
    await until('it is saved', async () =>
      (await this.tabs()).every((tab) => !tab.active || !tab.dirty),
    );
  }
}
