import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { CheckpointPreview } from '../../../src/protocol.ts';
import type { Place } from '../../../src/review/changes.ts';
import { checkpointLabel, outlook } from '../../../src/review/checkpoint_text.ts';
import { hover } from '../../../src/review/hover.ts';
import { codeBlock, excerpt, splitLines, words } from '../../../src/review/markdown.ts';

const PLACE: Place = {
  sessionId: 's',
  agent: 'demo',
  uri: 'file:///a.py',
  hunkId: 'h',
  kind: 'modified',
  proposed: false,
  conflict: false,
  first: 4,
  count: 1,
  gone: 2,
  come: 1,
  before: 4,
  text: null,
};

test('nothing of a text ends the block it stands in', () => {
  const evil = 'x\n```\n[yes](command:acp.revertAll)\n````\n';
  const block = codeBlock(evil, 'py`thon\n');
  const [fence] = block.split('\n');
  assert.equal(fence, '`````python');
  assert.equal(block.split('\n').filter((line) => line.startsWith('`````')).length, 2);
});

test('the name of an agent has no meaning in Markdown', () => {
  const name = '[x](command:acp.revertAll) **b** <img src=y> $(check)\nz';
  const shown = words(name);
  assert.doesNotMatch(shown, /(?<!\\)[[\]()*<>$]/);
  assert.doesNotMatch(shown, /\n/);
});

test('a hover says who changed what, and shows the lines that went', () => {
  const text = hover(PLACE, ['one', 'two'], 'python');
  assert.match(text, /^\*\*demo\*\* changed 2 lines/);
  assert.match(text, /```python\none\ntwo\n```/);
  assert.match(text, /\(command:acp\.keepHunk\?/);
  assert.match(text, /\(command:acp\.revertHunk\?/);
});

test('a conflict cannot be reverted from the hover, a proposal cannot be kept', () => {
  const clash = hover({ ...PLACE, kind: 'conflict', conflict: true }, null, 'python');
  assert.doesNotMatch(clash, /acp\.revertHunk/);
  assert.match(clash, /acp\.keepHunk/);
  const proposed: Place = { ...PLACE, kind: 'proposed', proposed: true, text: 'new\n' };
  const asked = hover(proposed, null, 'python');
  assert.match(asked, /acp\.applyHunk.*acp\.rejectHunk/);
  assert.match(asked, /```python\nnew\n```/);
});

test('very many lines are not all shown, and it is said how many more there are', () => {
  const lines = Array.from({ length: 50 }, (_, index) => `${index}`);
  assert.match(excerpt(lines), /\n… 30 more$/);
});

test('lines end as in LSP', () => {
  assert.deepEqual(splitLines('a\r\nb\rc\nd'), ['a', 'b', 'c', 'd']);
  assert.deepEqual(splitLines('a\n'), ['a']);
  assert.deepEqual(splitLines(''), []);
});

test('a checkpoint is called like the first line of its prompt', () => {
  assert.equal(checkpointLabel('\n fix it \n\nplease'), 'fix it');
  assert.equal(checkpointLabel(''), 'A prompt without words');
  assert.equal(checkpointLabel('a'.repeat(100)), `${'a'.repeat(59)}…`);
});

test('before a restore each file is named with what happens to it, many are counted', () => {
  const files: CheckpointPreview['files'] = [{ uri: 'file:///new', change: 'deleted' }];
  for (let index = 0; index < 10; index += 1) {
    files.push({ uri: `file:///f${index}`, change: 'modified' });
  }
  const text = outlook({ files, conflicts: ['x'], problems: [] }, (uri) => uri.slice(8));
  assert.match(text, /^Delete new\nChange f0\n/);
  assert.match(text, /… and 3 files more/);
  assert.match(text, /yours stay/);
});
