import assert from 'node:assert/strict';
import { test } from 'node:test';

import { diffTexts, type FileDiff } from '../../webview/diff.ts';
import { Heights } from '../../webview/heights.ts';
import { patchFiles } from '../../webview/patch.ts';
import { pathIn, placeOf, shortPath } from '../../webview/paths.ts';
import { visible, visibleLines } from '../../webview/visible.ts';

function drawn(diff: FileDiff): string[] {
  return diff.parts.flatMap((part) => [
    `@${part.skipped}`,
    ...part.lines.map((it) => `${it.before ?? ''},${it.after ?? ''}${it.sign}${it.text}`),
  ]);
}

test('heights: sums and look-ups agree with plain ones', () => {
  const heights = new Heights();
  const plain: number[] = [];
  for (let index = 0; index < 100; index += 1) {
    heights.push((index * 37) % 11);
    plain.push((index * 37) % 11);
  }
  for (const index of [0, 7, 63, 64, 99]) {
    heights.set(index, index + 1);
    plain[index] = index + 1;
  }
  heights.truncate(90);
  plain.length = 90;
  heights.push(5);
  plain.push(5);
  let top = 0;
  plain.forEach((height, index) => {
    assert.equal(heights.top(index), top);
    if (height > 0) {
      assert.equal(heights.find(top), index);
      assert.equal(heights.find(top + height - 0.5), index);
    }
    top += height;
  });
  assert.equal(heights.total, top);
  assert.equal(heights.find(top + 100), 90);
  assert.equal(new Heights().find(3), 0);
});

test('a diff has numbered lines and three of context', () => {
  const before = Array.from({ length: 20 }, (_, index) => `l${index + 1}`);
  const after = [...before];
  after.splice(9, 1, 'new', 'newer');
  assert.deepEqual(drawn(diffTexts(before.join('\n'), after.join('\n'))), [
    '@6',
    '7,7 l7',
    '8,8 l8',
    '9,9 l9',
    '10,-l10',
    ',10+new',
    ',11+newer',
    '11,12 l11',
    '12,13 l12',
    '13,14 l13',
  ]);
});

test('a diff finds what stays between changes, and joins neighbours', () => {
  const diff = diffTexts('a\nb\nc\nd\ne\n', 'a\nX\nc\ne\nf\n');
  assert.deepEqual(
    diff.parts.flatMap((it) => it.lines.map((line) => line.sign + line.text)),
    [' a', '-b', '+X', ' c', '-d', ' e', '+f'],
  );
  assert.deepEqual([diff.added, diff.removed], [2, 2]);
});

test('a new file is all added, a same one has nothing to show', () => {
  assert.deepEqual(drawn(diffTexts(null, 'a\nb\n')), ['@0', ',1+a', ',2+b']);
  assert.deepEqual(diffTexts('a\r\n', 'a\n').parts, []);
});

test('two wholly different long texts are compared in time', () => {
  const old = Array.from({ length: 8000 }, (_, index) => `old ${index}`).join('\n');
  const now = Array.from({ length: 8000 }, (_, index) => `new ${index}`).join('\n');
  const diff = diffTexts(old, now);
  assert.deepEqual([diff.added, diff.removed], [8000, 8000]);
});

test('a git patch of two files is read, lines that look like names included', () => {
  const files = patchFiles(
    'diff --git a/one.txt b/one.txt\n--- a/one.txt\n+++ b/one.txt\n@@ -5,3 +5,2 @@\n 5\n--- 6\n 7\n' +
      'diff --git a/two b/three\nrename from two\nrename to three\n',
  );
  assert.deepEqual(
    files.map((file) => [file.path, drawn(file.diff)]),
    [
      ['one.txt', ['@4', '5,5 5', '6,--- 6', '7,6 7']],
      ['three', []],
    ],
  );
});

test('a plain unified patch of two files is read', () => {
  const files = patchFiles(
    '--- a\n+++ a\n@@ -1 +1 @@\n-x\n+y\n--- b\n+++ b\n@@ -1 +1 @@\n-x\n+y\n',
  );
  assert.deepEqual(
    files.map((file) => [file.path, file.diff.added, file.diff.removed]),
    [
      ['a', 1, 1],
      ['b', 1, 1],
    ],
  );
});

test('what looks like a path in a text is one, and what only resembles one is none', () => {
  assert.deepEqual(pathIn('src/a.py:12'), { path: 'src/a.py', line: 12 });
  assert.deepEqual(pathIn('/ws/a.ts#L3-L9'), { path: '/ws/a.ts', line: 3 });
  assert.deepEqual(pathIn('a.py:7:2'), { path: 'a.py', line: 7 });
  assert.deepEqual(pathIn('C:\\ws\\a.py:3'), { path: 'C:\\ws\\a.py', line: 3 });
  assert.deepEqual(pathIn('file:///ws/a%20b.py#L4'), { path: '/ws/a b.py', line: 4 });
  for (const none of ['os.path', 'http://x.org/a.py', 'a b/c.py', 'javascript:a.b', '1.5', 'a/b']) {
    assert.equal(pathIn(none), null, none);
  }
  assert.deepEqual(placeOf('src/a.py'), { path: 'src/a.py', line: null });
});

test('a path in the folder of the session is shown without it', () => {
  assert.equal(shortPath('/ws/src/a.py', '/ws'), 'src/a.py');
  assert.equal(shortPath('/wsx/a.py', '/ws'), '/wsx/a.py');
  assert.equal(shortPath('C:\\ws\\a.py', 'C:\\ws'), 'a.py');
  assert.equal(shortPath('/ws/a.py', null), '/ws/a.py');
});

test('characters that hide or fake something are shown', () => {
  assert.equal(visible('rm \u202etxt.exe'), 'rm \\u202etxt.exe');
  assert.equal(visible('a\nb\u00a0c\u200b'), 'a\\nb\\u00a0c\\u200b');
  assert.equal(visible('ü 日本 👍 ❤️'), 'ü 日本 👍 ❤️');
  assert.equal(visible('x\ufe0f'), 'x\\ufe0f');
  assert.equal(visibleLines('a\r\n\tb\rc\u001b[1m'), 'a\n\tb\\rc\\u001b[1m');
  assert.equal(visible('\u{e0041}'), '\\U000e0041');
});
