/** The browser in which VS Code is shown: one for all tests of a file. */

import { after } from 'node:test';

import { type Browser, chromium, type Page } from 'playwright-core';

import { launchOptions } from './places.ts';

const SIZE = { width: 1400, height: 900 };

let browser: Promise<Browser> | undefined;

/**
 * Opens a page that shares nothing with earlier ones: a user at another computer.
 *
 * `ACP_VSCODE_WATCH=1` shows the browser, and slows it down so that one can follow.
 */
export async function newPage(): Promise<Page> {
  browser ??= launch();
  const context = await (
    await browser
  ).newContext({ viewport: SIZE, permissions: ['clipboard-read', 'clipboard-write'] });
  context.setDefaultTimeout(30_000);
  return context.newPage();
}

async function launch(): Promise<Browser> {
  const watched = process.env.ACP_VSCODE_WATCH !== undefined;
  return chromium.launch({
    ...launchOptions(),
    headless: !watched,
    slowMo: watched ? 100 : 0,
  });
}

after(async () => {
  await (await browser)?.close();
});
