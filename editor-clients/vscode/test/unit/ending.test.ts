import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readLine, reasonOfEnd } from '../../src/ending.ts';
import { Deaths } from '../../src/launch/deaths.ts';

test('a line of the log keeps its level and loses its time', () => {
  const line = '2026-11-30 03:15:01,123 WARNING acp_sidecar.app: demo has ended';
  assert.deepEqual(readLine(line), { level: 'warn', text: 'acp_sidecar.app: demo has ended' });
});

test('what is no line of the log is an error, whole', () => {
  const line = "ModuleNotFoundError: No module named 'pygls'";
  assert.deepEqual(readLine(line), { level: 'error', text: line });
});

test('the end is told with how, when and the last words', () => {
  assert.equal(
    reasonOfEnd(1, null, ['Traceback …', "No module named 'pygls'", ''], false),
    "The sidecar ended while it started with exit code 1. It says: No module named 'pygls'",
  );
  assert.equal(reasonOfEnd(null, 'SIGKILL', [], true), 'The sidecar ended by the signal SIGKILL.');
});

test('the fifth end in three minutes is the last', () => {
  const deaths = new Deaths();
  const again = [0, 10, 20, 30, 40].map((seconds) => deaths.add(seconds * 1000));
  assert.deepEqual(again, [true, true, true, true, false]);
  deaths.clear();
  assert.ok(deaths.add(50_000));
});

test('ends that lie far apart are no reason to give up', () => {
  const deaths = new Deaths();
  for (let minute = 0; minute < 20; minute++) {
    assert.ok(deaths.add(minute * 60_000));
  }
});
