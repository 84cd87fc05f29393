import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { scenario, until } from './harness/index.ts';
import { PYTHON } from './harness/places.ts';

const LOCKED = { command: PYTHON, args: [join(import.meta.dirname, 'agents/locked.py')] };
const SETTINGS = { 'acp.agents': { locked: LOCKED }, 'acp.defaultAgent': 'locked' };

scenario(
  'a form is filled in by lists, and comes again',
  { settings: SETTINGS },
  async (window) => {
    writeFileSync(join(window.server.home, '.locked-key'), '');
    await window.activated();
    await window.chat.prompt('Go');
    await window.showView('Explorer');
    await window.notifications.shown('locked wants to know: Which branch?');
    await window.command('ACP: Show Waiting Questions');
    const { quickPick, page } = window;
    await quickPick.titled('Which branch?');
    const note = async (text: string) => {
      await quickPick.choose('Note');
      await quickPick.titled(/^Note$/);
      await quickPick.field.fill(text);
      await page.keyboard.press('Enter');
      await quickPick.item('Send').waitFor();
    };

    await quickPick.choose('Branch *');
    await quickPick.choose('next');
    await quickPick.item('Send').waitFor();
    await note('ab');
    await quickPick.choose('Send');
    await until('it says what is wrong', async () =>
      (await quickPick.items()).some(({ detail }) => detail.startsWith('It ')),
    );
    await window.screenshot('form');
    await note('abc');
    await quickPick.choose('Send');
    await quickPick.closed();

    const told = join(window.server.home, '.locked-answer');
    await until('the agent has it', () => existsSync(told) && readFileSync(told).length > 0);
    assert.deepEqual(JSON.parse(readFileSync(told, 'utf8')), {
      action: 'accept',
      content: { branch: 'next', note: 'abc' },
    });
  },
);
