import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { scenario, until } from './harness/index.ts';
import { PYTHON } from './harness/places.ts';

const OPTIONS = {
  files: { 'generated/notes.txt': 'old\n' },
  settings: {
    'acp.agents': {
      scribe: { command: PYTHON, args: [join(import.meta.dirname, 'agents/scribe.py')] },
    },
    'acp.defaultAgent': 'scribe',
    'acp.follow.enabled': false,
    'files.watcherExclude': { '**/generated/**': true },
  },
};

scenario('an open file that VS Code does not watch is seen to change', OPTIONS, async (window) => {
  const notes = join(window.server.folder, 'generated/notes.txt');
  await window.activated();
  await window.openFile('generated/notes.txt');
  await window.chat.prompt(JSON.stringify({ 'generated/notes.txt': 'by the agent\n' }));
  await until('it is written', () => readFileSync(notes, 'utf8') === 'by the agent\n');
  await window.editors.reads('notes.txt', 'by the agent\n');
  assert.equal((await window.editors.tab('notes.txt'))?.dirty, false);
  await window.editors.type('notes.txt', 'and the user');
  await window.editors.save();
  await until('both are saved', () => readFileSync(notes, 'utf8') === 'by the agent\nand the user');
});
