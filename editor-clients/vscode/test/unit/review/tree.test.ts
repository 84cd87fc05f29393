import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { FileChange } from '../../../src/protocol.ts';
import { type Place, places, type ReviewSession } from '../../../src/review/changes.ts';
import { drawn, gutterIcon, LOOKS, proposal } from '../../../src/review/looks.ts';
import {
  areOpen,
  children,
  fileDescription,
  fileNode,
  fileSpoken,
  hunkDescription,
  hunkLabel,
  moreLabel,
  PAGE,
  roots,
} from '../../../src/review/tree.ts';

function change(name: string, more: Partial<FileChange> = {}): FileChange {
  const lines = (start: number, count: number) => ({ start, lines: count });
  return {
    uri: `file:///ws/${name}`,
    status: 'modified',
    oldUri: null,
    binary: false,
    hunks: [
      { id: 'h1', before: lines(1, 1), after: lines(1, 2), state: 'waiting' },
      { id: 'h2', before: lines(5, 2), after: lines(6, 0), state: 'waiting' },
    ],
    ...more,
  };
}

function session(id: string, changes: FileChange[]): ReviewSession {
  return { sessionId: id, agent: 'demo', title: null, changes };
}

function hunks(of: FileChange): [Place, Place] {
  const [one, other] = places(session('s', []), of);
  assert.ok(one && other);
  return [one, other];
}

test('the files of the only session stand at the top, those of several below theirs', () => {
  const one = session('one', [change('a'), change('b')]);
  const two = session('two', [change('a')]);
  assert.deepEqual(
    roots([one]).map(({ type }) => type),
    ['file', 'file'],
  );
  const rows = roots([one, two]);
  assert.deepEqual(
    rows.map(({ type }) => type),
    ['session', 'session'],
  );
  assert.deepEqual(rows.flatMap(children).map(({ id }) => id).length, 3);
});

test('a row has an id of its own, also where two sessions have changed one file', () => {
  const rows = roots([session('one', [change('a')]), session('two', [change('a')])]);
  const all = [...rows, ...rows.flatMap(children), ...rows.flatMap(children).flatMap(children)];
  assert.equal(new Set(all.map(({ id }) => id)).size, all.length);
});

test('ten thousand files are listed a page at a time, each of them once', () => {
  const many = session(
    's',
    Array.from({ length: 10_000 }, (_, index) => change(`f${index}`)),
  );
  let rows = roots([many]);
  const seen: string[] = [];
  for (;;) {
    assert.ok(rows.length <= PAGE + 1);
    seen.push(...rows.filter(({ type }) => type === 'file').map(({ id }) => id));
    const last = rows.at(-1);
    if (last?.type !== 'more') {
      break;
    }
    rows = children(last);
  }
  assert.equal(new Set(seen).size, 10_000);
  const more = roots([many]).at(-1);
  assert.equal(more?.type === 'more' && moreLabel(more), '9,500 more files');
  assert.equal(areOpen([many]), false);
});

test('what is no text has no hunks to choose from', () => {
  assert.deepEqual(children(fileNode(session('s', []), change('pic', { binary: true }))), []);
});

test('a hunk is called like its first line that says something', () => {
  const [modified, deleted] = hunks(change('a'));
  assert.equal(hunkLabel(modified, ['old'], ['', '  new  line']), '2: new line');
  assert.equal(hunkLabel(deleted, ['gone'], []), '7: gone');
  assert.equal(hunkLabel(modified, [], ['x = 1 # \u202etxet']), '2: x = 1 # \\u202etxet');
  assert.equal(hunkLabel(modified, [], ['', ' ']), '2: blank lines');
  assert.equal(hunkDescription(deleted), '−2 +0');
});

test('a screen reader hears what the letter and the colours say', () => {
  const clash = change('src/a.py');
  clash.hunks = clash.hunks.map((hunk) => ({ ...hunk, state: 'conflict' }));
  const spoken = fileSpoken(clash, 'src/a.py');
  assert.match(
    spoken,
    /^a\.py, modified, 2 changes, 3 lines removed, 2 lines added, 2 in conflict/,
  );
  assert.equal(fileDescription(clash, 'src'), '−3 +2  src');
});

test('lines are drawn where they are, removals at the line that has come there', () => {
  const [modified, deleted] = hunks(change('a'));
  assert.deepEqual(drawn(modified, 20, false), { look: 'modified', from: 1, to: 2 });
  assert.deepEqual(drawn(deleted, 20, false), { look: 'deletedAbove', from: 6, to: 6 });
});

test('what was removed at the end is drawn below the last line, nothing beyond it', () => {
  const [modified, deleted] = hunks(change('a'));
  assert.deepEqual(drawn(deleted, 6, false), { look: 'deletedBelow', from: 5, to: 5 });
  assert.deepEqual(drawn(modified, 2, false), { look: 'modified', from: 1, to: 1 });
  assert.deepEqual(drawn(deleted, 0, false), { look: 'deletedBelow', from: 0, to: 0 });
});

test('a proposal says what would come', () => {
  const [place] = hunks(change('a'));
  assert.equal(proposal({ ...place, text: '  new\n' }), '➜ new');
  assert.equal(proposal({ ...place, text: 'a\nb\n' }), '➜ a … (+2 lines)');
  assert.match(proposal({ ...place, text: '' }), /removed/);
});

test('marks in the gutter differ in shape where they differ in colour', () => {
  const kinds = ['added', 'modified', 'deletedAbove', 'conflict', 'proposed'] as const;
  assert.equal(new Set(kinds.map((look) => gutterIcon(look, '#fff'))).size, kinds.length);
  for (const look of LOOKS) {
    assert.match(gutterIcon(look, '#fff'), /^data:image\/svg\+xml;base64,/);
  }
});
