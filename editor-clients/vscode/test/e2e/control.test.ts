import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

import { scenario, until } from './harness/index.ts';
import { press } from './harness/mouse.ts';
import { PYTHON } from './harness/places.ts';

const MINE = {
  mine: { command: PYTHON, args: ['-m', 'acp_sidecar', 'demo-agent', '--pace', '0'] },
};

scenario(
  'an agent of the settings is there at once, and the doctor looks at it',
  {},
  async (window) => {
    const { quickPick, server, page } = window;
    await window.activated();
    const sidecar = () => server.processes('acp_sidecar serve')[0]?.pid;
    const before = await until('the sidecar runs', sidecar);
    // It is in the palette once the sidecar has answered.
    await window.command('ACP: Restart an Agent…');
    await quickPick.choose('demo');
    await window.notifications.shown('demo was not running.');

    server.configure({ 'acp.agents': MINE });
    await until('the agent is in the list', async () => {
      await window.command('ACP: Doctor…');
      await until('there is a list of agents', async () =>
        (await quickPick.items()).some(({ label }) => label === 'demo'),
      );
      const there = (await quickPick.items()).some(({ label }) => label === 'mine');
      if (!there) {
        await page.keyboard.press('Escape');
      }
      return there;
    });
    await quickPick.choose('mine');
    const output = page.locator('.output-view-container, .panel .monaco-editor').first();
    await output.getByText('It can be used.').waitFor();
    await window.screenshot('doctor');
    assert.equal(sidecar(), before);
  },
);

scenario('what is said can be recorded', { files: { 'kept/a.txt': '' } }, async (window) => {
  const { quickPick, server } = window;
  const folder = join(server.folder, 'kept');
  await window.activated();
  await until('the sidecar runs', () => server.processes('acp_sidecar serve').length > 0);
  await window.command('ACP: Record Trace…');
  assert.match(await window.dialog.shown(), /contents of your files/);
  await window.dialog.answer('Choose a Folder…');
  await quickPick.opened();
  const listed = async () => (await quickPick.items()).some(({ label }) => label === 'kept');
  await until('the folders are listed', listed);
  await quickPick.field.fill(`${folder}/`);
  await until('those in it are listed', async () => !(await listed()));
  await quickPick.accept();
  await window.statusBar('ACP Recording').waitFor();
  await until('there is a recording', () =>
    readdirSync(folder).some((name) => name.startsWith('editor-')),
  );
  await window.screenshot('recording');

  await press(window.statusBar('ACP Recording'));
  await window.notifications.shown(/Recorded into/);
  await window.statusBar('ACP Recording').waitFor({ state: 'detached' });
  await until('the sidecar runs without recording', () => {
    const [command] = server.processes('acp_sidecar serve');
    return command !== undefined && !command.command.includes('--trace');
  });
});

scenario('a Python that is none is told by its name', {}, async (window) => {
  const { notifications, server } = window;
  await window.activated();
  await window.chat.open();
  await window.chat.frame.getByRole('heading', { name: /^What shall/ }).waitFor();
  server.configure({ 'acp.pythonPath': '/nowhere/python' });
  await notifications.shown('There is no file /nowhere/python.');
  await until('none runs', () => server.processes('acp_sidecar serve').length === 0);
  const said = window.chat.frame.getByText('There is no file /nowhere/python.');
  await said.filter({ visible: true }).waitFor();
  await window.screenshot('missing');

  server.configure({ 'acp.pythonPath': PYTHON });
  await until('the sidecar runs again', () => server.processes('acp_sidecar serve').length > 0);
});
