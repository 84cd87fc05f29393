import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { scenario, until } from './harness/index.ts';
import { PYTHON } from './harness/places.ts';

const OPTIONS = {
  settings: {
    'acp.agents': {
      scribe: { command: PYTHON, args: [join(import.meta.dirname, 'agents/scribe.py')] },
    },
    'acp.defaultAgent': 'scribe',
    'acp.follow.enabled': false,
    'files.encoding': 'utf16le',
  },
};

scenario(
  'a file that an agent makes is read as it was written, whatever encoding the folder has',
  OPTIONS,
  async (window) => {
    const path = join(window.server.folder, 'new.txt');
    const says = (text: string) =>
      until(`the file says ${text}`, () => existsSync(path) && readFileSync(path, 'utf8') === text);
    await window.activated();
    await window.chat.prompt(JSON.stringify({ 'new.txt': 'grüße\n' }));
    await says('grüße\n');
    await window.openFile('new.txt');
    await window.editors.reads('new.txt', 'grüße\n');
    // The agent goes on in it, and so does the user.
    await window.chat.prompt(JSON.stringify({ 'new.txt': 'grüße\nand more\n' }));
    await says('grüße\nand more\n');
    await window.editors.reads('new.txt', 'grüße\nand more\n');
    assert.equal((await window.editors.tab('new.txt'))?.dirty, false);
    await window.editors.type('new.txt', 'und ich');
    await window.editors.save();
    await says('grüße\nand more\nund ich');
  },
);
