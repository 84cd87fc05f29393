import assert from 'node:assert/strict';
import { test } from 'node:test';

import { continuation, howItEnded, toTerminal } from '../../src/terminals/mirror.ts';

test('more output is what came behind the earlier one', () => {
  assert.equal(continuation('', 'one\n'), 'one\n');
  assert.equal(continuation('one\n', 'one\ntwo'), 'two');
  assert.equal(continuation('one\n', 'one\n'), '');
});

test('of a long output only the end is told, and goes on without a gap', () => {
  const all = Array.from({ length: 2000 }, (_, n) => `line ${n}\n`).join('');
  const old = all.slice(0, 6000);
  const now = all.slice(3000, 9000);
  assert.equal(old + String(continuation(old, now)), all.slice(0, 9000));
});

test('a line that was written over, or a gap, is drawn anew', () => {
  assert.equal(continuation('10 %', '20 %'), null);
  assert.equal(continuation('a'.repeat(1000), 'b'.repeat(1000)), null);
});

test('each line begins at the left', () => {
  assert.equal(toTerminal('a\nb\r\nc'), 'a\r\nb\r\nc');
});

test('the name of a signal writes nothing but itself into the terminal', () => {
  const copies = '\x1b]52;c;ZXZpbA==\x07\r\n';
  const told = howItEnded({ exitCode: null, signal: copies });
  assert.doesNotMatch(told, /\p{Cc}/u);
  assert.ok(told.includes('\\u001b]52;c;'));
  assert.equal(howItEnded({ exitCode: null, signal: 'TERM' }), 'was ended by TERM');
  assert.equal(howItEnded({ exitCode: 3, signal: null }), 'has ended with exit code 3');
});
