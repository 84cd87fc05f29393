/** A test in a VS Code of its own. */

import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { newPage } from './browser.ts';
import { RESULTS } from './places.ts';
import { CodeServer, type ServerOptions } from './server.ts';
import { Workbench } from './workbench.ts';

const SECONDS = 180;

/**
 * Registers a test. It gets a window of a new VS Code in which the extension is installed. When it
 * fails, a picture of the window and all logs are kept in `test-results`, in a folder that is called
 * like the test. In any case VS Code is ended after it, and whatever still runs then fails the test.
 *
 * @param title what the test shows, in words
 * @param options the files of the folder, settings, and what else is different
 * @param body the test
 */
export function scenario(
  title: string,
  options: ServerOptions,
  body: (window: Workbench) => Promise<void>,
): void {
  test(title, { timeout: SECONDS * 1000 }, async () => {
    const kept = join(RESULTS, title.replaceAll(/[^\w]+/g, '-'));
    rmSync(kept, { recursive: true, force: true });
    const server = await CodeServer.start(options);
    try {
      await inWindow(server, kept, body);
    } finally {
      await server.stop();
    }
  });
}

async function inWindow(
  server: CodeServer,
  kept: string,
  body: (window: Workbench) => Promise<void>,
): Promise<void> {
  const page = await newPage();
  const told: string[] = [];
  page.on('console', (message) => told.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => told.push(`error: ${error.stack ?? error.message}`));
  try {
    const window = await Workbench.open(server, page);
    await body(window);
    await window.close();
  } catch (error) {
    mkdirSync(kept, { recursive: true });
    writeFileSync(join(kept, 'browser.log'), told.join('\n'));
    writeFileSync(join(kept, 'processes.txt'), JSON.stringify(server.processes(), undefined, 2));
    if (existsSync(server.logs)) {
      cpSync(server.logs, join(kept, 'logs'), { recursive: true });
    }
    await page.screenshot({ path: join(kept, 'window.png') }).catch(() => undefined);
    await page.context().close();
    throw error;
  }
}
