import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { FileChange, Hunk, ProposedHunk } from '../../../src/protocol.ts';
import {
  byPath,
  counts,
  kindOf,
  placeAt,
  places,
  placesWithin,
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

test('the hunk at the cursor is on its lines, or next to where lines were removed', () => {
  const found = places(session(A), A);
  const at = (line: number) => placeAt(found, line)?.hunkId ?? null;
  assert.deepEqual([1, 2, 3, 8, 9, 10].map(at), [null, 'a1', null, 'a2', 'a2', null]);
});

test('a hunk that has lines wins over a removal that only touches the line', () => {
  const close = file('file:///a', [hunk('gone', [3, 2], [3, 0]), hunk('here', [6, 1], [4, 1])]);
  const found = places(session(close), close);
  assert.equal(placeAt(found, 4)?.hunkId, 'here');
  assert.equal(placeAt(found, 3)?.hunkId, 'gone');
});

test('a selection takes every hunk that it meets', () => {
  const found = places(session(A), A);
  const ids = (from: number, to: number) => placesWithin(found, from, to).map((it) => it.hunkId);
  assert.deepEqual(ids(0, 20), ['a1', 'a2']);
  assert.deepEqual(ids(3, 8), []);
  assert.deepEqual(ids(0, 2), ['a1']);
});

test('files are in the order of their paths', () => {
  const names = byPath([file('f/b', []), file('b', []), file('f/a', [])]).map(({ uri }) => uri);
  assert.deepEqual(names, ['b', 'f/a', 'f/b']);
});
