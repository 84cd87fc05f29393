import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { scenario, type Workbench } from './harness/index.ts';
import { PYTHON } from './harness/places.ts';

const LOCKED = { command: PYTHON, args: [join(import.meta.dirname, 'agents/locked.py')] };
const SETTINGS = {
  'acp.agents': { locked: LOCKED },
  'acp.defaultAgent': 'locked',
  // So that its text is in the page.
  'terminal.integrated.gpuAcceleration': 'off',
};

async function logIn(window: Workbench, code: string): Promise<void> {
  await window.command('ACP: Log In…');
  await window.quickPick.titled('Log in to an agent');
  await window.quickPick.choose('locked');
  await window.terminalReads('The code, please:');
  await window.terminalHasFocus();
  await window.page.keyboard.type(`${code}\n`);
}

scenario('a login is typed into a terminal', { settings: SETTINGS }, async (window) => {
  await window.activated();
  const key = join(window.server.home, '.locked-key');

  await logIn(window, '7');
  await window.terminalReads('7 is not the code.');
  await window.terminalReads('has ended with exit code 3');
  await window.screenshot('login-failed');
  await window.terminalHasFocus();
  await window.page.keyboard.press('Enter');
  assert.match(await window.notifications.shown('did not work'), /ended with 3\.$/);
  assert.equal(existsSync(key), false);

  await logIn(window, '42');
  await window.notifications.shown('Logged in to locked.');
  assert.equal(existsSync(key), true);

  await window.command('ACP: Log Out…');
  await window.quickPick.titled('Log out of an agent');
  await window.quickPick.choose('locked');
  await window.notifications.shown('Logged out of locked.');
  assert.equal(existsSync(key), false);
});
