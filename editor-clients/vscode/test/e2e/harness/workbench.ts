/** A window of VS Code, and what a person can do in it: look, click and type. */

import { mkdirSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { FrameLocator, Locator, Page } from 'playwright-core';

import { Chat } from './chat.ts';
import { Editors } from './editors.ts';
import { press, restMouse } from './mouse.ts';
import { Dialog, Notifications } from './notifications.ts';
import { extensionId, RESULTS } from './places.ts';
import { QuickInput } from './quick_input.ts';
import type { CodeServer } from './server.ts';
import { until } from './until.ts';

/** A window that shows a folder. */
export class Workbench {
  /** What it runs on. */
  readonly server: CodeServer;
  /** The page of the browser, for what is not here. */
  readonly page: Page;
  /** The chat. */
  readonly chat: Chat;
  /** The columns of editors. */
  readonly editors: Editors;
  /** The messages. */
  readonly notifications: Notifications;
  /** The question in the middle. */
  readonly dialog: Dialog;
  /** The list at the top. */
  readonly quickPick: QuickInput;

  private constructor(server: CodeServer, page: Page) {
    this.server = server;
    this.page = page;
    this.chat = new Chat(this);
    this.editors = new Editors(page);
    this.notifications = new Notifications(page);
    this.dialog = new Dialog(page);
    this.quickPick = new QuickInput(page);
  }

  /** Opens the server's folder in a page, and waits until one can work in it. */
  static async open(server: CodeServer, page: Page): Promise<Workbench> {
    const workbench = new Workbench(server, page);
    await page.goto(server.url);
    await workbench.#ready();
    return workbench;
  }

  /** Loads the window anew, as F5 in a browser does. */
  async reload(): Promise<void> {
    await this.page.reload();
    await this.#ready();
  }

  /**
   * Waits until VS Code has stored that a file is open. In a browser it stores which editors are
   * open every five seconds, and not at the window's end: a window that is loaded anew before has
   * those that were open then, also what was closed meanwhile.
   */
  async remembers(name: string): Promise<void> {
    await until(`VS Code has stored that ${name} is open`, async () =>
      (await this.page.evaluate(storedEditors)).includes(`/${name}`),
    );
  }

  /** Closes the window as a user does: by leaving it. */
  async close(): Promise<void> {
    if (!this.page.isClosed()) {
      await this.page.goto('about:blank');
      await this.page.context().close();
    }
  }

  /** Waits until the extension was started. */
  async activated(): Promise<void> {
    const line = `_doActivateExtension ${extensionId()}`;
    await until('the extension is started', async () => (await this.#log()).includes(line));
  }

  /** Runs a command of the palette: its whole title, "ACP: Show Log". */
  async command(title: string): Promise<void> {
    await this.quickPick.find(`>${title}`, title);
  }

  /** Opens a file by the list of files, in the column that has the focus. */
  async openFile(name: string): Promise<void> {
    await this.quickPick.find(name, name.split('/').at(-1) ?? name);
    await this.editors.shown(name.split('/').at(-1) ?? name);
  }

  /** Says that the folder's authors are trusted, in the editor that "Restricted Mode" opens. */
  async trust(): Promise<void> {
    await press(this.statusBar('Restricted Mode'));
    await press(
      this.page.locator('.workspace-trust-editor').getByRole('button', { name: /^Trust$/ }),
    );
    await this.statusBar('Restricted Mode').waitFor({ state: 'hidden' });
    // That editor lies over all the others.
    const over = this.page.locator('.monaco-modal-editor-block');
    await press(over.getByRole('button', { name: /^Close/ }).last());
    await over.waitFor({ state: 'hidden' });
    await restMouse(this.page);
  }

  /** What of the status bar has this in its text. */
  statusBar(text: string | RegExp): Locator {
    return this.page.locator('.statusbar-item').filter({ hasText: text }).first();
  }

  /** Clicks an icon at the side, by the name of its view; waits until that is shown. */
  async showView(name: string): Promise<void> {
    const tab = this.page.locator('.activitybar').getByRole('tab', { name });
    await press(tab);
    await restMouse(this.page);
    await until(
      `${name} is shown`,
      async () => ((await tab.getAttribute('aria-selected')) ?? '') === 'true',
    );
  }

  /** Clicks a file in the explorer, and waits until its name can be typed; the field for it. */
  async rename(file: Locator): Promise<Locator> {
    const field = this.page.locator('.explorer-item-edited input');
    await press(file);
    // The explorer may not have taken up yet that it has the focus.
    await until('its name can be typed', async () => {
      await this.page.keyboard.press('F2');
      return until('there is a field', () => field.isVisible(), 1).then(
        () => true,
        () => false,
      );
    });
    return field;
  }

  /** Those rows of the side bar's trees and lists that can be seen, from above. */
  async sideBar(): Promise<string[]> {
    const rows = await this.page.locator('.sidebar .monaco-list-row').allInnerTexts();
    return rows.map((row) => row.replaceAll(/\s+/g, ' ').trim());
  }

  /** Waits until a terminal that can be seen has this; `terminal.integrated.gpuAcceleration` is off. */
  async terminalReads(text: string): Promise<void> {
    const rows = this.page.locator('.terminal .xterm-rows').filter({ visible: true });
    await until(`the terminal reads "${text}"`, async () =>
      (await rows.allInnerTexts()).join('').replaceAll('\u00a0', ' ').includes(text),
    );
  }

  /** Waits until the keys go to a terminal. */
  async terminalHasFocus(): Promise<void> {
    const field = this.page.locator('.terminal .xterm-helper-textarea:focus');
    await field.waitFor({ state: 'attached' });
  }

  /** What a view of the extension is drawn in. */
  webviewFrame(): Locator {
    return this.page.locator(
      `iframe.webview[src*="extensionId=${extensionId()}"][src*="webviewView"]`,
    );
  }

  /** The document in a view of the extension. */
  webview(): FrameLocator {
    return this.webviewFrame().contentFrame().frameLocator('#active-frame');
  }

  /** Takes a picture; the file is called so. */
  async screenshot(name: string): Promise<void> {
    mkdirSync(RESULTS, { recursive: true });
    await this.page.screenshot({ path: join(RESULTS, `${name}.png`) });
  }

  /** What the extension host has written to its log, in all windows. */
  async #log(): Promise<string> {
    const files = await readdir(this.server.logs, { recursive: true }).catch(() => []);
    const logs = files.filter((file) => file.endsWith('remoteexthost.log'));
    const texts = logs.map((file) => readFile(join(this.server.logs, file), 'utf8'));
    return (await Promise.all(texts)).join('');
  }

  async #ready(): Promise<void> {
    await this.page.locator('.monaco-workbench').waitFor({ timeout: 30_000 });
    await this.page.locator('.statusbar-item').first().waitFor();
    await this.page.locator('.explorer-viewlet, .pane-body').first().waitFor();
  }
}

/** Runs in the page: what VS Code has stored of the open editors of its folders, as JSON. */
async function storedEditors(): Promise<string> {
  const done = <T>(request: IDBRequest<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error ?? new Error('cannot be read'));
    });
  const found: string[] = [];
  for (const { name } of await indexedDB.databases()) {
    if (name?.startsWith('vscode-web-state-db-')) {
      const database = await done(indexedDB.open(name));
      const items = database.transaction('ItemTable').objectStore('ItemTable');
      found.push(String(await done(items.get('memento/workbench.parts.editor'))));
      database.close();
    }
  }
  return found.join('\n');
}
