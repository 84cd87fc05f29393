/** The messages at the bottom right, and those that must be answered first. */

import type { Locator, Page } from 'playwright-core';

import { click, press, restMouse } from './mouse.ts';

/** A message as it is read. */
export interface Message {
  text: string;
  buttons: string[];
}

/** What {@link Workbench.notifications} gives. */
export class Notifications {
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
  }

  /** Those that are shown now, the newest first. */
  async all(): Promise<Message[]> {
    return this.#page
      .locator('.notifications-toasts .notification-list-item')
      .evaluateAll((items) =>
        items.map((item) => ({
          text: item.querySelector('.notification-list-item-message')?.textContent ?? '',
          buttons: [
            ...item.querySelectorAll('.notification-list-item-buttons-container .monaco-button'),
          ]
            .map((button) => button.textContent)
            .filter((text) => text !== ''),
        })),
      );
  }

  /** The first that has this in its text. */
  with(text: string | RegExp): Locator {
    return this.#page
      .locator(
        '.notifications-toasts .notification-list-item, .notifications-center .notification-list-item',
      )
      .filter({ hasText: text })
      .first();
  }

  /** Waits for a message with this text; the whole text. */
  async shown(text: string | RegExp): Promise<string> {
    const item = this.with(text);
    await item.waitFor();
    return item.locator('.notification-list-item-message').innerText();
  }

  /** Clicks a button of a message. */
  async answer(text: string | RegExp, button: string): Promise<void> {
    await press(this.with(text).getByRole('button', { name: button, exact: true }));
    await restMouse(this.#page);
  }

  /** Puts a message away. */
  async dismiss(text: string | RegExp): Promise<void> {
    const item = this.with(text);
    await item.hover();
    await click(item.locator('.codicon-notifications-clear'));
    await restMouse(this.#page);
  }
}

/** The dialog that must be answered before anything else. */
export class Dialog {
  /** The whole of it. */
  readonly box: Locator;

  constructor(page: Page) {
    this.box = page.locator('.monaco-dialog-box');
  }

  /** Waits for it; all of its text. */
  async shown(): Promise<string> {
    await this.box.waitFor();
    return this.box.locator('.dialog-message-container').innerText();
  }

  /** Clicks one of its buttons. */
  async answer(button: string | RegExp): Promise<void> {
    const name = typeof button === 'string' ? { name: button, exact: true } : { name: button };
    await press(this.box.getByRole('button', name));
    await this.box.waitFor({ state: 'hidden' });
  }
}
