import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  rowText,
  shortened,
  visible,
  visibleLines,
  withoutIcons,
  wrapped,
} from '../../src/visible.ts';

test('whatever hides or fakes something is shown as an escape', () => {
  const hidden: [string, string][] = [
    ['a\nb\tc\r', 'a\\nb\\tc\\r'],
    ['\u001b[31mred', '\\u001b[31mred'],
    ['gp\u202etxt.exe', 'gp\\u202etxt.exe'],
    ['a\u2028b\u00a0c\u3000d', 'a\\u2028b\\u00a0c\\u3000d'],
    ['\u3164\u2800', '\\u3164\\u2800'],
    ['tag \u{e0041}', 'tag \\U000e0041'],
    ['a\ufe0f', 'a\\ufe0f'],
    ['lone \ud800', 'lone \\ud800'],
    ['[click](command:evil)', '[click] (command:evil)'],
  ];
  for (const [text, shown] of hidden) {
    assert.equal(visible(text), shown);
  }
  for (const plain of ['naïve 日本 ✓', '❤️', 'a b', '$(date) `x` [y]']) {
    assert.equal(visible(plain), plain);
  }
});

test('lines stay lines, and tabs tabs', () => {
  assert.deepEqual(visibleLines('a\tb\r\nc\u0000\nd'), ['a\tb', 'c\\u0000', 'd']);
});

test('a shell substitution is no icon', () => {
  assert.equal(withoutIcons('echo $(date) $(sync~spin)'), 'echo \\$(date) \\$(sync~spin)');
  assert.equal(withoutIcons('echo $(ls -l) $HOME'), 'echo $(ls -l) $HOME');
  assert.equal(withoutIcons('$(bug).py $(x)'), '\\$(bug).py \\$(x)');
});

test('wrapping loses nothing and breaks at blanks', () => {
  assert.deepEqual(wrapped('one two three', 8), ['one two ', 'three']);
  assert.deepEqual(wrapped('a'.repeat(10), 4), ['aaaa', 'aaaa', 'aa']);
  assert.deepEqual(wrapped('', 4), ['']);
  assert.equal(shortened('abcdef', 4), 'abc…');
  assert.equal(shortened('abcd', 4), 'abcd');
});

test('a row is one line of what was written, without icons', () => {
  assert.equal(rowText('Fast $(check)\n[x](command:y)'), 'Fast \\$(check)\\n[x] (command:y)');
});
