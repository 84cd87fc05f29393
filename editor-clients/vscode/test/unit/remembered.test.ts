import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readRemembered } from '../../src/sessions/remembered.ts';

const session = {
  agent: 'demo',
  agentSessionId: 'demo-1',
  cwd: '/ws',
  title: 'Greet',
  active: true,
};

test('what was kept comes back as it was', () => {
  const other = { ...session, agentSessionId: 'demo-2', title: null, active: false };
  assert.deepEqual(readRemembered([session, other]), [session, other]);
});

test('what another version has kept does no harm', () => {
  assert.deepEqual(readRemembered(undefined), []);
  assert.deepEqual(readRemembered({ sessions: [session] }), []);
  const odd = [null, 'demo', { agent: 'demo' }, { ...session, cwd: 3 }, session];
  assert.deepEqual(readRemembered(odd), [session]);
  const { agent, agentSessionId, cwd } = session;
  assert.deepEqual(readRemembered([{ agent, agentSessionId, cwd }]), [
    { agent, agentSessionId, cwd, title: null, active: false },
  ]);
});
