import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { scenario, until } from './harness/index.ts';

scenario(
  'what is unsaved is saved for a command when the user agrees',
  { files: { 'notes.txt': 'old\n' } },
  async (window) => {
    const notes = join(window.server.folder, 'notes.txt');
    await window.activated();
    await window.chat.open();
    await window.chat.frame.getByPlaceholder(/^Ask demo/).waitFor();
    await window.openFile('notes.txt');
    await window.editors.type('notes.txt', 'new');
    await window.chat.prompt('/run cat notes.txt');
    await window.showView('Explorer');
    await window.statusBar('1 question').waitFor();
    await window.command('ACP: Show Waiting Questions');
    await window.quickPick.titled('wants to run a command');
    await window.quickPick.choose('Yes');

    // That there is one question also the status bar says, of the one before for a moment longer.
    await window.notifications.with('Save before demo runs').waitFor();
    await window.command('ACP: Show Waiting Questions');
    await window.quickPick.item('Save and run').waitFor();
    assert.equal(readFileSync(notes, 'utf8'), 'old\n');
    await window.screenshot('question-save');
    await window.quickPick.choose('Save and run');
    await until('it is saved', () => readFileSync(notes, 'utf8') === 'old\nnew');
    await until('its tab says so', async () => !(await window.editors.tab('notes.txt'))?.dirty);
    await window.chat.open();
    await window.chat.says(/old\s+new/);
  },
);
