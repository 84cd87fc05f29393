import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { FileChange, Hunk, ProposedHunk } from '../../../src/protocol.ts';
import {
  byPath,
  counts,
  kindOf,
  places,
  type ReviewSession,
  waitingIn,
} from '../../../src/review/changes.ts';

function hunk(id: string, before: [number, number], after: [number, number]): Hunk {
  return {
    id,
    before: { start: before[0], lines: before[1] },
    after: { start: after[0], lines: after[1] },
    state: 'waiting',
  };
}

function file(uri: string, hunks: Hunk[], more: Partial<FileChange> = {}): FileChange {
  return { uri, status: 'modified', oldUri: null, binary: false, hunks, ...more };
}

const PROPOSED: ProposedHunk = {
  id: 'p1',
  before: { start: 3, lines: 1 },
  after: { start: 7, lines: 2 },
  text: 'one\ntwo\n',
  state: 'proposed',
};

function session(...changes: FileChange[]): ReviewSession {
  return { sessionId: 's', agent: 'demo', title: null, changes };
}

const A = file('file:///a', [hunk('a1', [2, 1], [2, 1]), hunk('a2', [9, 3], [9, 0])]);
const B = file('file:///b', [hunk('b1', [0, 0], [0, 4])]);

test('the kind of a hunk follows from its lines, a conflict from its state', () => {
  assert.equal(kindOf(hunk('x', [2, 1], [2, 2])), 'modified');
  assert.equal(kindOf(hunk('x', [2, 0], [2, 2])), 'added');
  assert.equal(kindOf(hunk('x', [2, 1], [2, 0])), 'deleted');
  assert.equal(kindOf({ ...hunk('x', [2, 1], [2, 0]), state: 'conflict' }), 'conflict');
  assert.equal(kindOf(PROPOSED), 'proposed');
});

test('a proposed hunk stands where the lines are that would go', () => {
  const [place] = places(session(), file('file:///a', [], { proposed: [PROPOSED] }));
  assert.deepEqual([place?.first, place?.count, place?.gone, place?.come], [3, 1, 1, 2]);
  assert.equal(place?.text, 'one\ntwo\n');
});

test('a file without hunks is one decision, another as many as it has hunks', () => {
  const binary = file('file:///pic', [], { binary: true });
  assert.equal(waitingIn([session(A, binary), session(B)]), 4);
  assert.deepEqual(counts(A), { come: 1, gone: 4 });
});

test('files are in the order of their paths', () => {
  const names = byPath([file('f/b', []), file('b', []), file('f/a', [])]).map(({ uri }) => uri);
  assert.deepEqual(names, ['b', 'f/a', 'f/b']);
});
