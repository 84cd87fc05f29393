import assert from 'node:assert/strict';
import { test } from 'node:test';

import { lineAfter } from '../../src/follow/lines.ts';

test('a mark moves with its line', () => {
  const change = (startLine: number, endLine: number, text: string) => ({
    startLine,
    endLine,
    text,
  });
  assert.equal(lineAfter(10, change(2, 2, 'a\nb\n')), 12);
  assert.equal(lineAfter(10, change(2, 5, '')), 7);
  assert.equal(lineAfter(10, change(11, 12, 'below\n')), 10);
  assert.equal(lineAfter(10, change(10, 10, 'in the line')), 10);
  assert.equal(lineAfter(10, change(8, 15, 'the line is gone')), 8);
});
