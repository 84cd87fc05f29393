/** Environments made for real: by a real Python, with pip and the index that it is set up for. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import {
  EnvironmentCancelled,
  EnvironmentFailed,
  Environments,
  type Making,
} from '../../src/launch/environment.ts';
import { findLaunch, findWheel, type Wheel } from '../../src/launch/launch.ts';
import { probe, type Python, pythonsOnPath } from '../../src/launch/python.ts';

const root = mkdtempSync(join(tmpdir(), 'acp-environment-'));
const storage = join(root, 'storage');
const environments = new Environments(storage);
const lines: string[] = [];
const said: string[] = [];
let base: Python;
let wheel: Wheel;

before(async () => {
  const found = findWheel(join(import.meta.dirname, '../../bundled'));
  assert.ok(found, 'run "npm run wheel" first');
  wheel = found;
  const answers = await Promise.all(pythonsOnPath().map((it) => probe(it, root)));
  const python = answers.find((answer) => answer.ok && answer.python.makesEnvironments);
  assert.ok(python?.ok, 'a Python 3.11 or newer with venv is needed');
  base = python.python;
});
after(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }));

function making(signal = new AbortController().signal): Making {
  lines.length = 0;
  said.length = 0;
  return {
    signal,
    onProgress: (message) => said.push(message),
    onLine: (line) => lines.push(line),
  };
}

function made(): string[] {
  return readdirSync(storage).filter((name) => name.startsWith('environment-'));
}

/** pip as it is without a network. */
async function offline<T>(act: () => Promise<T>): Promise<T> {
  const kept = { ...process.env };
  Object.assign(process.env, {
    PIP_CONFIG_FILE: '/dev/null',
    PIP_INDEX_URL: 'http://127.0.0.1:9/simple',
    PIP_RETRIES: '1',
    PIP_NO_CACHE_DIR: '1',
  });
  for (const name of ['PIP_FIND_LINKS', 'PIP_EXTRA_INDEX_URL', 'PIP_NO_INDEX']) {
    Reflect.deleteProperty(process.env, name);
  }
  try {
    return await act();
  } finally {
    for (const name of Object.keys(process.env)) {
      Reflect.deleteProperty(process.env, name);
    }
    Object.assign(process.env, kept);
  }
}

test('without a network nothing is left behind, and what to do is said', async () => {
  await offline(async () => {
    await assert.rejects(environments.make(base, wheel, making()), (error) => {
      assert.ok(error instanceof EnvironmentFailed);
      assert.match(error.message, /the package index cannot be reached\. Go online/);
      assert.match(error.message, /acp\.pythonPath/);
      return true;
    });
  });
  assert.deepEqual(made(), []);
  assert.equal(await environments.python(), null);
});

test('an environment is made in which the sidecar runs', async () => {
  const python = await environments.make(base, wheel, making());
  assert.deepEqual(await environments.python(), python);
  assert.ok(await environments.isOf(wheel));
  assert.equal(said[0], 'Making a virtual environment…');
  assert.ok(
    said.some((message) => message.startsWith('Downloading ')),
    said.join('\n'),
  );

  const found = await findLaunch({
    setting: null,
    environment: python,
    wheel,
    cwd: await environments.emptyFolder(),
    env: { PATH: '' },
  });
  assert.ok(found.kind === 'ready' && found.own);
  const { command, args } = found.launch;
  const version = spawnSync(command, [...args, '--version'], { encoding: 'utf8', cwd: root });
  assert.equal(version.stdout.trim(), wheel.version);
});

test('a folder called acp_sidecar in the project is not taken for the sidecar', async () => {
  writeFileSync(join(root, 'acp_sidecar.py'), 'raise SystemExit("of the project")');
  const python = await environments.python();
  assert.ok(python);
  const run = spawnSync(python.command, ['-P', '-m', 'acp_sidecar', '--version'], { cwd: root });
  assert.equal(run.status, 0, String(run.stderr));
});

test('one that fails or is cancelled leaves the one before in use', async () => {
  const before = await environments.python();
  await offline(() => assert.rejects(environments.make(base, wheel, making()), EnvironmentFailed));
  assert.deepEqual(await environments.python(), before);

  const aborter = new AbortController();
  const cancelled = environments.make(base, wheel, {
    ...making(aborter.signal),
    // pip runs by then, a child of a child is not unlikely.
    onLine: () => aborter.abort(),
  });
  await assert.rejects(cancelled, EnvironmentCancelled);
  assert.deepEqual(await environments.python(), before);
  assert.equal(made().length, 1);
  if (existsSync('/proc/self/cmdline')) {
    const alive = readdirSync('/proc').filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(storage);
      } catch {
        return false;
      }
    });
    assert.deepEqual(alive, []);
  }
});

test('another window that makes one is not disturbed; one that is gone is not waited for', async () => {
  const lock = join(storage, 'making.lock');
  writeFileSync(lock, String(process.pid));
  await assert.rejects(environments.make(base, wheel, making()), /Another window/);

  const gone = spawnSync(process.execPath, ['-e', '']).pid;
  writeFileSync(lock, String(gone));
  const before = await environments.python();
  const python = await environments.make(base, wheel, making());
  assert.notDeepEqual(python, before);
  // The one before may still run in another window.
  assert.equal(made().length, 2);
  assert.ok(!existsSync(lock));
});

test('an environment whose Python is gone is made again from one on PATH', async () => {
  const python = await environments.python();
  assert.ok(python);
  rmSync(python.command);
  const found = await findLaunch({
    setting: null,
    environment: python,
    wheel: { ...wheel, version: '99.0.0' },
    cwd: root,
  });
  assert.ok(found.kind === 'missing' && found.base);
});
