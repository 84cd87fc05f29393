import assert from 'node:assert/strict';
import { test } from 'node:test';

import { BESIDE, type Column, columnFor, type Situation } from '../../src/follow/columns.ts';

const PLACE = 'file:///ws/place.py';
const MINE = 'file:///ws/mine.py';
const OTHER = 'file:///ws/other.py';

function columns(...shown: (string | null)[]): Column[] {
  return shown.map((uri, index) => ({
    column: index + 1,
    active: index === 0,
    empty: uri === null,
    shows: uri,
  }));
}

function choose(given: Partial<Situation> & { columns: Column[] }): number {
  return columnFor(PLACE, { agents: null, earlier: [], chatHasFocus: false, ...given });
}

function active(column: number, all: Column[]): Column[] {
  return all.map((each) => ({ ...each, active: each.column === column }));
}

test('the first place goes beside the user', () => {
  assert.equal(choose({ columns: columns(MINE) }), BESIDE);
});

test('also where the user is in that very file', () => {
  assert.equal(choose({ columns: columns(PLACE) }), BESIDE);
  assert.equal(choose({ columns: columns(PLACE, OTHER), agents: 2 }), 2);
});

test('the agent keeps its column', () => {
  assert.equal(choose({ columns: columns(MINE, OTHER, OTHER), agents: 3 }), 3);
});

test('a text that can be seen is not opened again', () => {
  assert.equal(choose({ columns: columns(MINE, PLACE, OTHER), agents: 3 }), 2);
  assert.equal(choose({ columns: columns(MINE, PLACE) }), 2);
});

test('of two that show it the agent takes its own', () => {
  assert.equal(choose({ columns: columns(MINE, PLACE, PLACE), agents: 3 }), 3);
});

test('the column the user went to is no longer the agent’s', () => {
  const taken = active(2, columns(MINE, OTHER));
  assert.equal(choose({ columns: taken, agents: 2 }), BESIDE);
  assert.equal(choose({ columns: active(2, columns(MINE, PLACE)), agents: 2 }), BESIDE);
});

test('it is, while the keys go to the chat', () => {
  const columnsNow = active(2, columns(MINE, OTHER));
  assert.equal(choose({ columns: columnsNow, agents: 2, chatHasFocus: true }), 2);
});

test('the chat’s focus gives no leave to cover what the user has open', () => {
  assert.equal(choose({ columns: columns(MINE), chatHasFocus: true }), BESIDE);
  assert.equal(choose({ columns: columns(PLACE), chatHasFocus: true }), BESIDE);
});

test('a user who goes from column to column does not make more and more of them', () => {
  const third = active(3, columns(MINE, OTHER, OTHER));
  assert.equal(choose({ columns: third, agents: 3, earlier: [2] }), 2);
});

test('an empty window is not split', () => {
  assert.equal(choose({ columns: columns(null) }), 1);
  assert.equal(choose({ columns: columns(null, OTHER) }), BESIDE);
});

test('a column that is gone is not asked for', () => {
  assert.equal(choose({ columns: columns(MINE), agents: 2, earlier: [3] }), BESIDE);
});
