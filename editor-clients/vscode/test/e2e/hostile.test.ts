import assert from 'node:assert/strict';
import { join } from 'node:path';

import { scenario, until } from './harness/index.ts';
import { press } from './harness/mouse.ts';
import { PYTHON } from './harness/places.ts';

const HOSTILE = { command: PYTHON, args: [join(import.meta.dirname, 'agents/hostile.py')] };
/** As it is written: no icon, no link, nothing hidden. */
const MODE =
  '$(check) safe\\u202egnp.exe [Fix it] (command:workbench.action.closeActiveEditor)\\nsecond line';
const SETTINGS = { 'acp.agents': { hostile: HOSTILE }, 'acp.defaultAgent': 'hostile' };

scenario(
  'an agent that writes links, icons and odd paths fools nobody and stops nothing',
  { settings: SETTINGS, files: { 'a.txt': 'one\n' } },
  async (window) => {
    const { chat, notifications, page } = window;
    await window.openFile('a.txt');
    await window.activated();
    const links = () => page.locator('.notification-list-item-message a').allInnerTexts();

    await chat.prompt('tools');
    await chat.says('All of it.');
    await chat.is('idle');
    await window.screenshot('hostile-tools');
    await press(chat.frame.getByText('zero', { exact: true }).last());
    await notifications.shown('/dev/zero is not a regular file.');
    await notifications.dismiss('/dev/zero');

    await chat.prompt('fail');
    await until('it is told', async () => {
      const said = await notifications.all();
      return (
        said.some(({ text }) => text.includes('Out of luck')) ||
        (await chat.frame.getByText('Out of luck').count()) > 0
      );
    });
    assert.deepEqual(await links(), []);
    await window.screenshot('hostile-fail');

    await window.command('ACP: Choose Mode…');
    const [mode] = await (await window.quickPick.opened()).items();
    assert.equal(mode?.label, MODE);
    await page.keyboard.press('Escape');
    await window.quickPick.closed();

    await chat.prompt('ask');
    await window.showView('Explorer');
    await window.statusBar('1 question').waitFor();
    await until('it is told', async () => (await links()).length > 0);
    assert.deepEqual(await links(), ['Show…', 'Later']);
    const progress = page.locator('.statusbar-item').filter({ hasText: 'hostile is working' });
    await progress.filter({ hasText: /\$\u200b?\(check\)/u }).waitFor();
    assert.equal(await progress.locator('.codicon-check').count(), 0);
    await window.screenshot('hostile-asked');

    await window.command('ACP: Show Waiting Questions');
    await window.quickPick.titled('hostile wants to run a command');
    const answers = (await window.quickPick.items()).map(({ label }) => label).slice(-4);
    assert.deepEqual(answers, [
      'Reject (reject_once)',
      'Reject (allow_once)',
      '$(x) [Fix it] (command:workbench.action.closeActiveEditor)',
      'd',
    ]);
    await window.quickPick.choose('Reject (reject_once)');
    await chat.open();
    await chat.says('"optionId": "b"');
  },
);
