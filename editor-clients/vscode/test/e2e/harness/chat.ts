/** The chat in the side bar. */

import { type FrameLocator, type Locator } from 'playwright-core';

import { press } from './mouse.ts';
import { until, untilSame } from './until.ts';
import type { Workbench } from './workbench.ts';

/** What {@link Workbench.chat} gives. */
export class Chat {
  readonly #window: Workbench;
  /** The document of the chat. */
  readonly frame: FrameLocator;
  /** Where the user types. */
  readonly field: Locator;

  constructor(window: Workbench) {
    this.#window = window;
    this.frame = window.webview();
    this.field = this.frame.locator('textarea[aria-label="Prompt"]');
  }

  /** Shows it and puts the focus there; until then the command is on its way, and would take it later. */
  async open(): Promise<void> {
    await this.#window.command('ACP: Open Chat');
    await this.field.waitFor();
    await until('the prompt has the focus', () =>
      this.field.evaluate((it) => it === document.activeElement && document.hasFocus()),
    );
  }

  /** Types a prompt and sends it; opens the chat for it only where it cannot be seen. */
  async prompt(text: string): Promise<void> {
    if (!(await this.#isSeen())) {
      await this.open();
    }
    await press(this.field);
    await this.#window.page.keyboard.type(text);
    await untilSame('the prompt is typed', text, () => this.field.inputValue());
    await press(this.button(/^(Send|Queue)$/));
    await untilSame('the prompt is sent', '', () => this.field.inputValue());
  }

  async #isSeen(): Promise<boolean> {
    return (await this.#window.webviewFrame().isVisible()) && (await this.field.isVisible());
  }

  /**
   * What the tabs of the sessions say to who cannot see them, from left to right: all at one
   * moment, since a tab may go while others are asked.
   */
  async tabs(): Promise<string[]> {
    return this.frame
      .getByRole('tab')
      .evaluateAll((tabs) => tabs.map((tab) => tab.getAttribute('aria-label') ?? ''));
  }

  /** Waits until the shown session is so: "idle", "at work", … as its tab says. */
  async is(status: string): Promise<void> {
    const tab = this.frame.getByRole('tab', { selected: true });
    await until(`the session is ${status}`, async () =>
      ((await tab.getAttribute('aria-label')) ?? '').includes(`, ${status}`),
    );
  }

  /** A button of the chat. */
  button(name: string | RegExp): Locator {
    const wanted = typeof name === 'string' ? { name, exact: true } : { name };
    return this.frame.getByRole('button', wanted).first();
  }

  /** Waits until the conversation has this. */
  async says(text: string | RegExp): Promise<void> {
    await this.frame.getByText(text).filter({ visible: true }).last().waitFor();
  }
}
