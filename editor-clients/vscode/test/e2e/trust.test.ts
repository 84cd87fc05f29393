import assert from 'node:assert/strict';

import { scenario, until } from './harness/index.ts';

scenario('nothing starts in a folder that is not trusted', { trust: 'asked' }, async (window) => {
  const sidecar = () => window.server.processes('acp_sidecar');
  await window.activated();
  await window.statusBar('Restricted Mode').waitFor();
  await window.showView('Agents');
  await window.chat.says('This folder is not trusted');
  await window.screenshot('restricted');
  assert.deepEqual(sidecar(), []);

  await window.trust();
  await until('the sidecar runs', () => sidecar().length > 0);
  await window.chat.prompt('/refuse');
  await window.chat.says('I would rather not.');
});
