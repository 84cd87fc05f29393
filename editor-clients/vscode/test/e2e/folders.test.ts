import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { scenario, until, untilSame, type Workbench } from './harness/index.ts';
import { press } from './harness/mouse.ts';
import { PYTHON } from './harness/places.ts';

const OPTIONS = {
  files: { 'first/notes.txt': 'one\ntwo\n', 'second/notes.txt': 'eins\nzwei\n' },
  folders: ['first', 'second'],
  settings: {
    'acp.agents': {
      scribe: { command: PYTHON, args: [join(import.meta.dirname, 'agents/scribe.py')] },
    },
    'acp.defaultAgent': 'scribe',
    'acp.follow.enabled': false,
    // It would go to the file of the other folder whenever it gets round to it.
    'explorer.autoReveal': false,
  },
};

/** Begins a session in a folder, and has it write there. */
async function write(window: Workbench, folder: string, text: string): Promise<void> {
  const { chat, quickPick } = window;
  await window.command('ACP: New Session');
  await quickPick.choose('scribe');
  await quickPick.item('second').waitFor();
  await quickPick.choose(folder);
  const tab = chat.frame.getByRole('tab', { selected: true });
  await until('the session is there', async () =>
    ((await tab.getAttribute('aria-label')) ?? '').startsWith('New session with scribe'),
  );
  await chat.prompt(JSON.stringify({ 'notes.txt': text }));
}

/** The changed files, as the view lists them; the sessions are called by what they were told. */
async function lists(window: Workbench, ...files: string[]): Promise<void> {
  await untilSame('the files that wait', files.join('\n'), async () =>
    (await window.sideBar()).filter((row) => /^\w+\.txt/.test(row)).join('\n'),
  );
}

scenario(
  'two sessions in two folders are reviewed apart, also where a file is renamed',
  OPTIONS,
  async (window) => {
    const { editors, page, server } = window;
    const said = (name: string) => readFileSync(join(server.folder, name), 'utf8');
    await window.activated();
    await write(window, 'second', 'eins\nZWEI\n');
    await lists(window, 'notes.txt−1 +1 second');
    await write(window, 'first', 'one\nTWO\n');
    await lists(window, 'notes.txt−1 +1 second', 'notes.txt−1 +1 first');
    assert.match((await window.chat.tabs()).join('\n'), /scribe in second.*\n.*scribe in first/);
    await window.screenshot('folders');

    await press(page.locator('.sidebar .monaco-list-row').filter({ hasText: /2: TWO/ }));
    await editors.shown('notes.txt');
    await editors.lens('notes.txt', /^Keep/);
    await lists(window, 'notes.txt−1 +1 second');

    await window.showView('Explorer');
    const row = page.locator('.explorer-folders-view .monaco-list-row');
    await press(row.filter({ hasText: /^second$/ }));
    const file = row.filter({ hasText: 'notes.txt' }).and(page.locator('.focused'));
    await until('the folder is open, and its file marked', async () => {
      // It opens, and once it is open goes to the first that is in it.
      await page.keyboard.press('ArrowRight');
      return file.isVisible();
    });
    const field = await window.rename(file);
    await field.fill('renamed.txt');
    await field.press('Enter');
    await until('it is renamed', () => existsSync(join(server.folder, 'second/renamed.txt')));
    await window.showView('Agents');
    await lists(window, 'renamed.txt−1 +1 second');
    await editors.lens('renamed.txt', /^Revert/);
    await until('it is reverted', () => said('second/renamed.txt') === 'eins\nzwei\n');
    await lists(window);
    assert.equal(said('first/notes.txt'), 'one\nTWO\n');
  },
);
