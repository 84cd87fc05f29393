import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import {
  EnvironmentFailed,
  Environments,
  explainPip,
  explainVenv,
  parseCurrent,
} from '../../src/launch/environment.ts';
import type { Python } from '../../src/launch/python.ts';

const wheel = { path: '/ext/bundled/acp_sidecar-0.1.0-py3-none-any.whl', version: '0.1.0' };
const base: Python = {
  interpreter: { command: '/usr/bin/python3', args: [] },
  executable: '/usr/bin/python3',
  version: [3, 12, 4],
  prefix: '/usr',
  sidecar: null,
  makesEnvironments: true,
};

test('a Python without venv is told with the package that has it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'acp-environments-'));
  const making = {
    signal: new AbortController().signal,
    onProgress: () => undefined,
    onLine: () => undefined,
  };
  const debian = { ...base, makesEnvironments: false };
  await assert.rejects(new Environments(folder).make(debian, wheel, making), (error) => {
    assert.ok(error instanceof EnvironmentFailed);
    assert.match(error.message, /sudo apt install python3\.12-venv/);
    return true;
  });
  rmSync(folder, { recursive: true });
});

test("what Debian's Python says is told with the package, too", () => {
  const lines = [
    'The virtual environment was not created successfully because ensurepip is not',
    'available.  On Debian/Ubuntu systems, you need to install the python3-venv',
  ];
  assert.match(explainVenv(base, lines), /python3\.12-venv/);
  assert.match(explainVenv(base, ["No module named 'venv'"]), /python3\.12-venv/);
});

for (const [what, line, said] of [
  [
    'no network',
    'WARNING: Retrying … NameResolutionError("<…>: Failed to resolve \'pypi.org\'")',
    /cannot be reached\. Go online and try again/,
  ],
  [
    'a proxy that wants a login',
    "ProxyError('Cannot connect to proxy.', OSError('Tunnel connection failed: 407 Proxy …'))",
    /cannot get through the proxy/,
  ],
  [
    'a certificate of its own',
    "SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] …'))",
    /pip config set global\.cert FILE/,
  ],
  [
    'an index without a package',
    'ERROR: No matching distribution found for pygls<3,>=2.1',
    /has no pygls<3,>=2\.1 that fits/,
  ],
  ['a full disk', 'OSError: [Errno 28] No space left on device', /The disk is full/],
  ['anything else', 'ERROR: Something odd happened', /ERROR: Something odd happened/],
] as const) {
  test(`pip's failure for ${what} is told in a sentence`, () => {
    assert.match(explainPip(wheel, ['Collecting pygls', line, '']), said);
  });
}

test('a failure that leaves a way by hand names the wheel', () => {
  assert.ok(explainPip(wheel, ['NewConnectionError']).includes(wheel.path));
});

test('environment.json names a folder beside it and no other', () => {
  const text = (folder: string) => JSON.stringify({ folder, wheel: 'a', previous: null });
  assert.equal(parseCurrent(text('environment-1'))?.folder, 'environment-1');
  for (const folder of ['../elsewhere', '/usr', 'a/b']) {
    assert.equal(parseCurrent(text(folder)), null);
  }
  for (const broken of ['', '{', 'null', '3', '{}', '{"folder": "x"}']) {
    assert.equal(parseCurrent(broken), null);
  }
});
