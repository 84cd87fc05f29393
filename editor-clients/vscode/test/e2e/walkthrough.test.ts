import assert from 'node:assert/strict';

import { scenario, until } from './harness/index.ts';

// The start page "welcomePage" would show a walkthrough by itself again.
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
  // VS Code remembers a moment later that it is closed: the user looks at something else before.
  await window.openFile('a.txt');
  await window.reload();
  await window.activated();
  // It would have been shown before the sidecar is started.
  await until('the sidecar runs', () => window.server.processes('acp_sidecar serve').length > 0);
  assert.equal(await step.count(), 0);
});
