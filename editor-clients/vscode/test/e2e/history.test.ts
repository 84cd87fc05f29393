import assert from 'node:assert/strict';
import { join } from 'node:path';

import { scenario, until, type Workbench } from './harness/index.ts';
import { click } from './harness/mouse.ts';
import { PYTHON } from './harness/places.ts';

const FILES = { 'greeting.py': 'def greet(name):\n    return "Hello " + name\n' };
const KEEPER = {
  settings: {
    'acp.agents': {
      keeper: { command: PYTHON, args: [join(import.meta.dirname, 'agents/keeper.py')] },
    },
    'acp.defaultAgent': 'keeper',
  },
};

scenario(
  'a session that was closed is opened again from the history',
  { files: FILES, env: { ACP_DEMO_PACE: '0' } },
  async (window) => {
    const { chat } = window;
    await chat.open();
    await chat.prompt('/read greeting.py');
    await chat.says(/^Read greeting\.py/);
    await until('the turn is over', async () =>
      (await chat.tabs()).some((it) => it.startsWith('/read greeting.py, demo, idle')),
    );
    await window.command('ACP: Close Session');
    await until(
      'it is closed',
      async () => !(await chat.tabs()).some((it) => it.startsWith('/read')),
    );
    await chat.frame.getByRole('button', { name: 'Earlier sessions' }).click();
    await window.quickPick.titled(/Earlier sessions with demo/);
    await window.quickPick.item('/read greeting.py').hover();
    // The demo agent deletes none.
    assert.equal(await deletes(window, '/read greeting.py').count(), 0);
    await window.quickPick.choose('/read greeting.py');
    await chat.frame.getByRole('button', { name: /^Read greeting\.py/ }).waitFor();
  },
);

scenario('an earlier session is deleted for good', KEEPER, async (window) => {
  const history = async () => {
    await window.command('ACP: Show Earlier Sessions…');
    await window.quickPick.choose('keeper');
    await window.quickPick.titled(/Earlier sessions with keeper/);
    await window.quickPick.item('Paint the fence').waitFor();
  };
  await window.activated();
  await history();
  await window.quickPick.item('Mend the door').hover();
  await click(deletes(window, 'Mend the door'));
  await window.dialog.answer('Delete');
  await window.quickPick.item('Mend the door').waitFor({ state: 'detached' });
  await window.page.keyboard.press('Escape');
  await history();
  assert.equal(await window.quickPick.item('Mend the door').count(), 0);
});

function deletes(window: Workbench, label: string) {
  return window.quickPick.item(label).getByRole('button', { name: /Delete the session/ });
}
