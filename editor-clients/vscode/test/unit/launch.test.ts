import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

import { findLaunch, findWheel, type Places, serves } from '../../src/launch/launch.ts';

const root = mkdtempSync(join(tmpdir(), 'acp-launch-'));
after(() => rmSync(root, { recursive: true, force: true }));

const wheel = { path: '/x/acp_sidecar-0.2.0-py3-none-any.whl', version: '0.2.0' };

/** A program that answers as a Python of that kind does. */
function python(
  path: string,
  { version = [3, 12, 0], sidecar = null as string | null, venv = true } = {},
): string {
  const file = join(root, path);
  mkdirSync(join(file, '..'), { recursive: true });
  const answer = { version, prefix: root, executable: file, sidecar, venv };
  writeFileSync(file, `#!/bin/sh\necho '${JSON.stringify(answer)}'\n`);
  chmodSync(file, 0o755);
  return file;
}

function places(more: Partial<Places>): Places {
  return { setting: null, environment: null, wheel, cwd: root, env: { PATH: '' }, ...more };
}

test('the setting comes before the environment, the environment before PATH', async () => {
  const set = python('set/python', { sidecar: '0.2.0' });
  const environment = { command: python('own/python', { sidecar: '0.2.0' }), args: [] };
  const onPath = python('path/python3', { sidecar: '0.2.0' });
  const env = { PATH: join(root, 'path') };
  const commands = [];
  for (const more of [{ setting: set, environment, env }, { environment, env }, { env }]) {
    const found = await findLaunch(places(more));
    assert.ok(found.kind === 'ready');
    assert.deepEqual(found.launch.args, ['-P', '-m', 'acp_sidecar']);
    commands.push(found.launch.command);
  }
  assert.deepEqual(commands, [set, environment.command, onPath]);
});

test('a setting that names no Python is said, and nothing else is taken', async () => {
  python('path/python3', { sidecar: '0.2.0' });
  const found = await findLaunch(
    places({ setting: '/nowhere/python', env: { PATH: join(root, 'path') } }),
  );
  assert.deepEqual(found, {
    kind: 'missing',
    reason:
      'The setting acp.pythonPath does not name a usable Python. There is no file /nowhere/python.',
    base: null,
  });
});

test('a setting with a Python that is too old is said with its version', async () => {
  const setting = python('old/python', { version: [3, 10, 4] });
  const found = await findLaunch(places({ setting }));
  assert.ok(found.kind === 'missing');
  assert.match(found.reason, /is Python 3\.10\.4; 3\.11 or newer is needed/);
});

test('a setting with a Python without the sidecar is what an environment is made from', async () => {
  const setting = python('bare/python');
  const found = await findLaunch(places({ setting }));
  assert.ok(found.kind === 'missing');
  assert.equal(found.base?.executable, setting);

  const environment = { command: python('own/python', { sidecar: '0.2.0' }), args: [] };
  const then = await findLaunch(places({ setting, environment }));
  assert.ok(then.kind === 'ready' && then.own);
});

test('an older environment of its own is used until a newer one is made', async () => {
  const environment = { command: python('own/python', { sidecar: '0.1.0' }), args: [] };
  const found = await findLaunch(places({ environment }));
  assert.ok(found.kind === 'ready' && found.own);
});

test('an environment that is broken is none', async () => {
  const found = await findLaunch(places({ environment: { command: join(root, 'no'), args: [] } }));
  assert.equal(found.kind, 'missing');
});

test('on PATH a sidecar that is too old does not serve, a newer one does', async () => {
  python('mixed/python3.13', { sidecar: '0.1.9' });
  const newer = python('mixed/python3.11', { sidecar: '0.10.0' });
  const found = await findLaunch(places({ env: { PATH: join(root, 'mixed') } }));
  assert.ok(found.kind === 'ready');
  assert.equal(found.launch.command, newer);
});

test('an environment is made from a Python that can make one', async () => {
  python('debian/python3.13', { venv: false });
  const whole = python('debian/python3.11');
  const found = await findLaunch(places({ env: { PATH: join(root, 'debian') } }));
  assert.ok(found.kind === 'missing');
  assert.equal(found.base?.executable, whole);
});

test('without any Python it is said what to install, and which one was too old', async () => {
  const none = await findLaunch(places({}));
  assert.ok(none.kind === 'missing' && none.base === null);
  assert.match(none.reason, /^No Python 3\.11 or newer was found on PATH\. Install it/);

  python('ancient/python3', { version: [3, 9, 2] });
  const old = await findLaunch(places({ env: { PATH: join(root, 'ancient') } }));
  assert.ok(old.kind === 'missing');
  assert.match(old.reason, /ancient\/python3 is Python 3\.9\.2;/);
});

test('versions are compared as numbers', () => {
  assert.ok(serves('0.10.0', '0.9.9'));
  assert.ok(serves('0.2.0', '0.2.0'));
  assert.ok(!serves('0.1.10', '0.2.0'));
  assert.ok(!serves(null, '0.1.0'));
});

test('the wheel that comes along is found by its name', () => {
  const folder = join(root, 'bundled');
  mkdirSync(folder);
  assert.equal(findWheel(folder), null);
  writeFileSync(join(folder, 'acp_sidecar-1.2.3-py3-none-any.whl'), '');
  assert.equal(findWheel(folder)?.version, '1.2.3');
});
