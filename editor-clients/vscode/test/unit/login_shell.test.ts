import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';

import { loginShell } from '../../src/terminals/login_shell.ts';

function run(script: string, ...args: string[]) {
  const { shellPath, shellArgs } = loginShell(process.execPath, ['-e', script, ...args], 'linux');
  const { status, stdout } = spawnSync(shellPath, shellArgs, { input: '\n', encoding: 'utf8' });
  return { status, stdout };
}

const onPosix = { skip: process.platform === 'win32' };

test('a login that works ends its terminal at once', onPosix, () => {
  const args = ['two words', '$(touch nothing)', "it's"];
  const shown = run('process.stdout.write(JSON.stringify(process.argv.slice(1)))', ...args);
  assert.deepEqual(shown, { status: 0, stdout: JSON.stringify(args) });
});

test('one that fails can be read, and its exit code is its own', onPosix, () => {
  const { status, stdout } = run('console.log("no such user"); process.exit(7)');
  assert.equal(status, 7);
  assert.match(stdout, /^no such user\n/);
  assert.match(stdout, /ended with exit code 7\. Press Enter/);
});

test('one that the user stops is none', onPosix, () => {
  assert.notEqual(run('process.kill(process.pid, "SIGINT"); setTimeout(() => {}, 9e3)').status, 0);
});

test('where there is no such shell the command runs by itself', () => {
  assert.deepEqual(loginShell('agent.exe', ['login'], 'win32'), {
    shellPath: 'agent.exe',
    shellArgs: ['login'],
  });
});
