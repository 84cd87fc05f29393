import assert from 'node:assert/strict';
import { test } from 'node:test';

import { agentDoes } from '../../src/follow/words.ts';

test('what an agent does is said in words', () => {
  assert.equal(agentDoes('demo', 'edit'), 'demo edits');
  assert.equal(agentDoes('demo', null), 'demo is here');
  assert.equal(agentDoes('', 'a kind of a later version'), 'agent is here');
});
