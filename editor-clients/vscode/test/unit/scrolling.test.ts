import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Scrolling } from '../../src/scrolling.ts';

function shown(line: number | null, first: number, last: number): Scrolling {
  const scrolling = new Scrolling();
  scrolling.revealed(line, { first, last });
  return scrolling;
}

test('a scroll away from the place is the user’s, by one line too', () => {
  assert.equal(shown(50, 40, 60).isUsers({ first: 41, last: 61 }), true);
  assert.equal(shown(50, 40, 60).isUsers({ first: 39, last: 59 }), true);
  assert.equal(shown(2, 0, 20).isUsers({ first: 1, last: 21 }), true);
});

test('smooth scrolling towards the place is ours, what comes after it is not', () => {
  const scrolling = shown(100, 0, 20);
  for (const first of [10, 40, 70, 88, 90]) {
    assert.equal(scrolling.isUsers({ first, last: first + 20 }), false);
  }
  assert.equal(scrolling.isUsers({ first: 93, last: 113 }), true);
});

test('an editor that grows or shrinks was not scrolled', () => {
  const scrolling = shown(50, 40, 60);
  assert.equal(scrolling.isUsers({ first: 40, last: 45 }), false);
  assert.equal(scrolling.isUsers({ first: 40, last: 80 }), false);
});

test('lines that come in above move the place and what is seen alike', () => {
  const scrolling = shown(50, 40, 60);
  scrolling.moved(55);
  assert.equal(scrolling.isUsers({ first: 45, last: 65 }), false);
  assert.equal(scrolling.isUsers({ first: 48, last: 68 }), true);
});

test('without a line every scroll is the user’s', () => {
  assert.equal(shown(null, 0, 20).isUsers({ first: 3, last: 23 }), true);
});

test('what is seen first of all is taken as it is', () => {
  const scrolling = new Scrolling();
  scrolling.revealed(50, null);
  assert.equal(scrolling.isUsers({ first: 40, last: 60 }), false);
});
