import assert from 'node:assert/strict';

import { scenario, until } from './harness/index.ts';

scenario('the sidecar starts with a window and ends with it', {}, async (window) => {
  await window.activated();
  const sidecar = () => window.server.processes('acp_sidecar serve');
  await until('the sidecar runs', () => sidecar().length > 0);
  assert.equal(sidecar().length, 1);

  await window.showView('Agents');
  await window.webview().locator('#chat').waitFor({ state: 'attached' });
  await window.screenshot('start');

  await window.close();
  await until('the sidecar has ended', () => sidecar().length === 0);
});
