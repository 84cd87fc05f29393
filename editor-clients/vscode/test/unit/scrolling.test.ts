import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Scrolling, type Seen } from '../../src/follow/scrolling.ts';

function shown(towards: number | null, seen: Seen | null): Scrolling {
  const scrolling = new Scrolling();
  scrolling.revealed(towards);
  scrolling.settle(seen);
  return scrolling;
}

test('a scroll by one line is the user’s, up and down', () => {
  assert.equal(shown(null, { first: 40, last: 60 }).isUsers({ first: 41, last: 61 }), true);
  assert.equal(shown(null, { first: 40, last: 60 }).isUsers({ first: 39, last: 59 }), true);
});

test('also where the text ends above the end of the editor', () => {
  assert.equal(shown(null, { first: 180, last: 200 }).isUsers({ first: 182, last: 200 }), true);
});

test('smooth scrolling towards the place is ours, what comes after it is not', () => {
  const scrolling = shown(100, { first: 0, last: 20 });
  for (const first of [10, 40, 70, 88, 90]) {
    assert.equal(scrolling.isUsers({ first, last: first + 20 }), false);
  }
  assert.equal(scrolling.isUsers({ first: 93, last: 113 }), true);
});

test('the next place is scrolled to anew', () => {
  const scrolling = shown(100, { first: 0, last: 20 });
  scrolling.revealed(10);
  assert.equal(scrolling.isUsers({ first: 90, last: 110 }), false);
  assert.equal(scrolling.isUsers({ first: 0, last: 20 }), false);
});

test('an editor that grows or shrinks was not scrolled', () => {
  const scrolling = shown(null, { first: 40, last: 60 });
  assert.equal(scrolling.isUsers({ first: 40, last: 45 }), false);
  assert.equal(scrolling.isUsers({ first: 40, last: 80 }), false);
});

test('what is seen first of all is taken as it is', () => {
  assert.equal(shown(null, null).isUsers({ first: 40, last: 60 }), false);
});
