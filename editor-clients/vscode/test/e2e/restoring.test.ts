import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { kill, scenario, until, untilSame, type Workbench } from './harness/index.ts';
import { PYTHON } from './harness/places.ts';

const FILES = { 'greeting.py': 'def greet(name):\n    return "Hello " + name\n' };
const OPTIONS = { files: FILES, env: { ACP_DEMO_PACE: '0.1' } };

scenario('a conversation is there again after a reload, and goes on', OPTIONS, async (window) => {
  await window.activated();
  await window.chat.prompt('/read greeting.py');
  // Until then it may be idle since before.
  await window.chat.says(/^Read greeting\.py/);
  const idle = async () => (await window.chat.tabs()).some((it) => /read greeting.*idle/.test(it));
  await until('the turn is over', idle);

  await window.reload();
  await window.chat.open();
  await window.chat.says('/read greeting.py');
  await until('the session is open', idle);
  assert.equal(await window.chat.frame.getByRole('tab').count(), 1);
  await window.screenshot('restored');

  await window.chat.prompt('/read again.py');
  await window.chat.says('/read again.py');
});

scenario('a conversation outlives the sidecar', OPTIONS, async (window) => {
  await window.activated();
  await window.chat.prompt('/read greeting.py');
  // Until then it may be idle since before.
  await window.chat.says(/^Read greeting\.py/);
  const idle = async () => (await window.chat.tabs()).some((it) => /read greeting.*idle/.test(it));
  await until('the turn is over', idle);
  await killSidecar(window);
  await until('the session is open again', idle);
  await window.chat.prompt('/read again.py');
  await window.chat.says('/read again.py');
  assert.equal(await window.chat.frame.getByRole('tab').count(), 1);
});

const SCRIBE = {
  settings: {
    'acp.agents': {
      scribe: { command: PYTHON, args: [join(import.meta.dirname, 'agents/scribe.py')] },
    },
    'acp.defaultAgent': 'scribe',
  },
};

scenario(
  'a session in which nothing was said outlives the sidecar, whatever its agent keeps',
  SCRIBE,
  async (window) => {
    await window.activated();
    await window.chat.open();
    await window.command('ACP: New Session');
    await window.quickPick.choose('scribe');
    const idle = async () =>
      (await window.chat.tabs()).some((it) => /^New session with scribe.*idle/.test(it));
    await until('the session is open', idle);
    await killSidecar(window);
    await until('the session is open again', idle);
    assert.equal(await window.chat.frame.getByRole('tab').count(), 1);
    await window.chat.prompt(JSON.stringify({ 'new.txt': 'written' }));
    await until('the agent has written', () => existsSync(join(window.server.folder, 'new.txt')));
    assert.equal(await window.chat.frame.getByRole('tab').count(), 1);
  },
);

scenario(
  'what an agent has changed waits for review also where it cannot open its session again',
  { ...SCRIBE, files: FILES },
  async (window) => {
    const file = join(window.server.folder, 'greeting.py');
    const waits = async (count: string) => {
      const tab = window.page.locator('.activitybar').getByRole('tab', { name: /^Agents/ });
      await untilSame(`${count} waits for review`, count, async () =>
        (await tab.locator('.badge-content').allInnerTexts()).join('').trim(),
      );
    };
    await window.activated();
    await window.chat.prompt(JSON.stringify({ 'greeting.py': 'def greet(name):\n    pass\n' }));
    await waits('1');
    await killSidecar(window);
    await window.notifications.shown(/scribe cannot open the session again/);
    await waits('1');
    await window.reload();
    await window.chat.open();
    await waits('1');
    assert.equal(await window.chat.frame.getByRole('tab').count(), 1);
    await window.openFile('greeting.py');
    await window.command('ACP: Revert Changes of File');
    await waits('');
    await untilSame('it is as it was', FILES['greeting.py'], () => readFileSync(file, 'utf8'));
  },
);

/** Ends the sidecar without a warning; waits until another one runs. */
async function killSidecar(window: Workbench): Promise<void> {
  const sidecar = () => window.server.processes('acp_sidecar serve')[0];
  const first = await until('the sidecar runs', sidecar);
  kill(first.pid, 'SIGKILL');
  await until('another sidecar runs', () => {
    const pid = sidecar()?.pid;
    return pid !== undefined && pid !== first.pid;
  });
}
