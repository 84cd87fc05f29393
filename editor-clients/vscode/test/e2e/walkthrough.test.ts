import assert from 'node:assert/strict';

import { scenario } from './harness/index.ts';

// The start page "welcomePage" would show a walkthrough by itself.
const NEW = { files: { 'a.txt': '' }, settings: { 'workbench.startupEditor': 'readme' } };

scenario('someone new is shown what there is to do, once', NEW, async (window) => {
  await window.activated();
  const step = window.page.locator('.getting-started-step', { hasText: 'Let the sidecar run' });
  await step.waitFor();
  // It is done as soon as the sidecar runs.
  await step.locator('.codicon.complete').waitFor();
  await window.screenshot('walkthrough');

  await window.command('View: Close All Editors');
  await step.waitFor({ state: 'detached' });
  await window.openFile('a.txt');
  // Until then VS Code itself brings back the page that was open.
  await window.remembers('a.txt');
  await window.reload();
  await window.editors.shown('a.txt');
  // It would be shown before an agent answers.
  await window.chat.prompt('/refuse');
  await window.chat.says('I would rather not.');
  assert.deepEqual(
    (await window.editors.tabs()).map(({ name }) => name),
    ['a.txt'],
  );
  assert.equal(await step.count(), 0);
});
