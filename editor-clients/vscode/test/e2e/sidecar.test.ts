import assert from 'node:assert/strict';

import { kill, scenario, until } from './harness/index.ts';

scenario('a sidecar that is killed is started again', {}, async (window) => {
  await window.activated();
  const sidecar = () => window.server.processes('acp_sidecar serve')[0];
  const first = await until('the sidecar runs', sidecar);
  kill(first.pid, 'SIGKILL');
  const second = await until('another sidecar runs', () =>
    sidecar()?.pid === first.pid ? undefined : sidecar(),
  );
  assert.notEqual(second.pid, first.pid);
});
