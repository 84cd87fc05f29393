import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

import {
  filesOnPath,
  type Interpreter,
  names,
  probe,
  pythonIn,
  pythonsOnPath,
  readAnswer,
} from '../../src/launch/python.ts';

const root = mkdtempSync(join(tmpdir(), 'acp-python-'));
after(() => rmSync(root, { recursive: true, force: true }));

const python: Interpreter = { command: '/usr/bin/python3', args: [] };

function program(name: string, script: string): string {
  const file = join(root, name);
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return file;
}

test('the newest Python that is known comes first, on Windows the launcher', () => {
  assert.equal(names('linux')[0]?.command, 'python3.13');
  assert.deepEqual(names('win32')[0], { command: 'py', args: ['-3'] });
});

test('a relative folder on PATH is none to look in: it would be the workspace', () => {
  const files = filesOnPath('python', { PATH: '.:/usr/bin::bin:/opt/bin' }, 'linux');
  assert.deepEqual(files, ['/usr/bin/python', '/opt/bin/python']);
});

test('on Windows PATH may be called Path, and programs have endings', () => {
  const files = filesOnPath('py', { Path: 'C:\\Windows;.\\here' }, 'win32');
  assert.deepEqual(files, ['C:\\Windows\\py.exe', 'C:\\Windows\\py.bat', 'C:\\Windows\\py.cmd']);
});

test('the Python of an environment lies elsewhere on Windows', () => {
  assert.equal(pythonIn('/x/e', 'linux').command, '/x/e/bin/python');
  assert.equal(pythonIn('C:\\e', 'win32').command, 'C:\\e\\Scripts\\python.exe');
});

test('a folder that is on PATH by two names is looked at once', () => {
  const folder = join(root, 'bin');
  mkdirSync(folder);
  writeFileSync(join(folder, 'python3'), '');
  symlinkSync(folder, join(root, 'other'));
  const found = pythonsOnPath({ PATH: `${folder}:${join(root, 'other')}` }, 'linux');
  assert.deepEqual(found, [{ command: join(folder, 'python3'), args: [] }]);
});

test('what a Python prints before its answer does no harm', () => {
  const answer = { version: [3, 12, 1], prefix: '/p', executable: '/p/x', sidecar: '0.1.0' };
  const probe = readAnswer(python, 0, `hello\n${JSON.stringify({ ...answer, venv: true })}\n`, '');
  assert.ok(probe.ok);
  assert.deepEqual(probe.python.version, [3, 12, 1]);
  assert.equal(probe.python.sidecar, '0.1.0');
  assert.equal(probe.python.makesEnvironments, true);
});

test('a Python that does not know -P is too old', () => {
  const answer = readAnswer(python, 2, '', 'Unknown option: -P\nusage: python …');
  assert.deepEqual(answer, {
    ok: false,
    reason: '/usr/bin/python3 is older than Python 3.11, which is needed.',
    old: true,
  });
});

test('what is no Python is told with its own last words', () => {
  const answer = readAnswer(python, 127, '', 'pyenv: python3.13: command not found\n');
  assert.deepEqual(answer, {
    ok: false,
    reason:
      '/usr/bin/python3 is not a Python that works. It says: pyenv: python3.13: command not found',
  });
});

for (const out of ['', 'true', '{}', '{"version": "3.12"}', '[1, 2]']) {
  test(`an answer of ${out || 'nothing'} is none`, () => {
    assert.equal(readAnswer(python, 0, out, '').ok, false);
  });
}

test('a command that is not there is told by its name', async () => {
  const answer = await probe({ command: '/nowhere/python', args: [] }, root);
  assert.deepEqual(answer, { ok: false, reason: 'There is no file /nowhere/python.' });
});

test('a folder and a file that cannot be run are no Pythons, and say so', async () => {
  const plain = join(root, 'plain');
  writeFileSync(plain, 'text');
  for (const command of [root, plain]) {
    const answer = await probe({ command, args: [] }, root);
    assert.ok(!answer.ok);
    assert.ok(answer.reason.startsWith(`${command} `), answer.reason);
  }
});

test('a Python that cannot answer is not waited for, nor what it has started', async () => {
  const began = Date.now();
  const answer = await probe({ command: program('slow', 'sleep 60 & wait'), args: [] }, root, 0.2);
  assert.ok(!answer.ok);
  assert.match(answer.reason, /has not answered within 0\.2 seconds/);
  assert.ok(Date.now() - began < 10_000);
});

test('nothing of the folder where it is asked is imported', async () => {
  const folder = join(root, 'evil');
  mkdirSync(folder);
  writeFileSync(join(folder, 'json.py'), 'raise SystemExit("imported")');
  const real = pythonsOnPath().map((it) => probe(it, folder));
  const answers = (await Promise.all(real)).filter((answer) => answer.ok);
  assert.ok(answers.length > 0);
});
