import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Question } from '../../src/protocol.ts';
import { type Fact, facts, inShort, isLong } from '../../src/questions/facts.ts';

function question(fields: Partial<Question>): Question {
  return {
    requestId: 'permission-1',
    sessionId: 's',
    agent: 'demo',
    toolCallId: null,
    kind: 'execute',
    headline: 'demo wants to run a command',
    short: 'demo wants to run a command',
    facts: [],
    message: 'demo wants to run a command (execute, request 1)',
    title: null,
    description: null,
    command: null,
    cwd: null,
    paths: [],
    locations: [],
    rawInput: null,
    diffs: [],
    options: [],
    refusable: false,
    state: 'waiting',
    optionId: null,
    ...fields,
  };
}

function fact(text: string): Question['facts'][number] {
  return { kind: 'text', text, value: null, note: '' };
}

function rows(found: Fact[]): string[] {
  return found.flatMap((fact) => fact.rows);
}

test('a command is told once and whole, with its folder', () => {
  const command = `rm -rf ${'build/'.repeat(40)}`;
  const asked = question({ command, facts: [fact('Folder: /ws')] });
  const found = facts(asked);
  assert.equal(found[0]?.rows.join(''), command);
  assert.deepEqual(rows(found.slice(1)), ['Folder: /ws']);
  assert.ok(found.every((fact) => fact.rows.every((row) => row.length <= 76)));
  assert.equal(isLong(asked), false);
});

test('a command of many lines keeps them, and says where there is more', () => {
  const asked = question({ command: Array.from({ length: 20 }, (_, n) => `step ${n}`).join('\n') });
  const shown = rows(facts(asked));
  assert.deepEqual(shown.slice(0, 2), ['step 0', 'step 1']);
  assert.equal(shown.at(-1), '…');
  assert.equal(isLong(asked), true);
});

test('what would fake another text is seen', () => {
  const asked = question({ command: 'echo \u202e\u200bhi\u0007', agent: 'de\u0000mo' });
  assert.equal(facts(asked)[0]?.rows[0], 'echo \\u202e\\u200bhi\\u0007');
});

test('a change is told once, and leads to its lines', () => {
  const diff = {
    path: '/ws/a.py',
    oldText: 'a',
    newText: 'b',
    whole: true,
    summary: 'changes /ws/a.py (−1 +1 lines)',
  };
  const asked = question({
    kind: 'edit',
    diffs: [diff],
    facts: [fact('The agent calls it: “Edit a.py”')],
  });
  assert.deepEqual(facts(asked), [
    { kind: 'diff', rows: ['It changes /ws/a.py (−1 +1 lines)'], diff: 0 },
    { kind: 'said', rows: ['The agent calls it: “Edit a.py”'] },
  ]);
});

test('a notification is short, and leads nowhere but to the question', () => {
  const short = `demo wants to run: echo [run](command:evil) ${'x'.repeat(200)}`;
  const shown = inShort(question({ short }), 60);
  assert.equal(shown.length, 60);
  assert.ok(shown.startsWith('demo wants to run: echo [run] (command:evil) xxx'));
  assert.ok(shown.endsWith('x…'));
});
