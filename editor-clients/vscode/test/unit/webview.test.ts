import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { MessageBlock } from '../../src/protocol.ts';
import { completable, completed } from '../../webview/replacing.ts';
import { Sent } from '../../webview/sent.ts';
import { usageText } from '../../webview/usage.ts';

test('a completion takes the place of what was typed, counted in UTF-16 units', () => {
  const item = { label: 'a.py', text: '@src/a.py', detail: null, kind: 'file' as const };
  assert.deepEqual(
    completed({ text: '😀 look @a and', cursor: 10 }, { ...item, start: 8, end: 10 }),
    { text: '😀 look @src/a.py and', cursor: 17 },
  );
  // A text that has become shorter since is not gone beyond.
  assert.deepEqual(completed({ text: '@a', cursor: 2 }, { ...item, start: 9, end: 12 }), {
    text: '@a@src/a.py',
    cursor: 11,
  });
});

test('the sidecar is asked where a command or a file may follow, and nowhere else', () => {
  const at = (text: string, cursor = text.length) => completable({ text, cursor });
  assert.ok(at('/'));
  assert.ok(at('/re'));
  assert.ok(at('look at @'));
  assert.ok(at('look at @"my no'));
  assert.ok(at('@a and more', 2));
  assert.ok(!at(''));
  assert.ok(!at('/read '));
  assert.ok(!at('and/or'));
  assert.ok(!at('look at @a now'));
});

test('earlier prompts are remembered by session, equal ones in a row once', () => {
  const prompt = (id: string, text: string): MessageBlock => ({
    id,
    kind: 'message',
    messageId: id,
    role: 'user',
    content: [{ type: 'text', text }],
    turn: 1,
  });
  const sent = new Sent();
  const take = (sessionId: string, blocks: MessageBlock[], reset = false) =>
    sent.take({ type: 'blocks', sessionId, blocks, reset });
  take('s', [prompt('1', 'one'), prompt('2', 'two'), prompt('3', 'two')]);
  take('s', [{ ...prompt('4', 'an answer'), role: 'agent' }]);
  take('t', [prompt('1', 'elsewhere')]);
  assert.deepEqual(sent.of('s'), ['one', 'two']);
  assert.deepEqual(sent.of(null), []);
  assert.ok(!sent.isEmpty('t'));
  take('s', [], true);
  assert.ok(sent.isEmpty('s'));
  sent.keep(['s']);
  assert.ok(sent.isEmpty('t'));
});

test('the use of the context is said in short', () => {
  const cost = { amount: 0.1, currency: 'USD' };
  assert.equal(usageText({ used: 12_345, size: 200_000, cost }), '12k of 200k tokens, $0.10');
  assert.equal(usageText({ used: 1250, size: null, cost: null }), '1.3k tokens');
  assert.equal(usageText({ used: 50, size: 1_000_000, cost: null }), '50 of 1M tokens');
  assert.equal(usageText({ used: null, size: null, cost }), '$0.10');
  assert.equal(
    usageText({ used: 1, size: null, cost: { amount: 2, currency: 'credits' } }),
    '1 tokens, 2 credits',
  );
});
