/**
 * Installs what the end-to-end tests need beside Node: `npm run install-vscode`.
 *
 * That is code-server (a real VS Code for the browser) in the version that `code-server/package.json`
 * says, a Chromium, and what Debian has to give for code-server's native parts. It is quick where all
 * of it is there, and an error with advice where something cannot be had.
 */

import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { chromium, CODE_SERVER, INSTALLATION, which } from './harness/places.ts';

const PINS = join(import.meta.dirname, 'code-server');
/** To build the native parts with. */
const BUILD_PACKAGES = [
  'build-essential',
  'libkrb5-dev',
  'libsecret-1-dev',
  'libx11-dev',
  'libxkbfile-dev',
  'pkg-config',
];

/** The installed version of code-server, undefined where none is. */
function installedVersion(): string | undefined {
  const manifest = join(INSTALLATION, 'node_modules/code-server/package.json');
  return existsSync(CODE_SERVER) && existsSync(manifest) ? field(manifest, 'version') : undefined;
}

function wantedVersion(): string {
  return field(join(PINS, 'package.json'), 'dependencies', 'code-server');
}

/** A text in a JSON file. */
function field(file: string, ...keys: string[]): string {
  let value: unknown = JSON.parse(readFileSync(file, 'utf8'));
  for (const key of keys) {
    value = (value as Record<string, unknown>)[key];
  }
  return String(value);
}

/** Those of these Debian packages that are not installed; none on another system. */
function missing(packages: string[]): string[] {
  if (which('dpkg-query') === undefined) {
    return [];
  }
  return packages.filter((name) => {
    const query = spawnSync('dpkg-query', ['--show', '--showformat=${db:Status-Status}', name]);
    return query.stdout.toString() !== 'installed';
  });
}

function installPackages(names: string[]): void {
  if (names.length === 0) {
    return;
  }
  if (which('apt-get') === undefined || process.getuid?.() !== 0) {
    throw new Error(`Please install: ${names.join(' ')}`);
  }
  say(`Installing ${names.join(', ')} ...`);
  run('apt-get', ['update', '-qq']);
  run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...names]);
}

function installCodeServer(): void {
  if (installedVersion() === wantedVersion()) {
    return;
  }
  if (process.env.ACP_VSCODE_TEST !== undefined) {
    throw new Error(
      `ACP_VSCODE_TEST: ${INSTALLATION} has code-server ${installedVersion() ?? '(none)'}, ` +
        `the tests need ${wantedVersion()}.`,
    );
  }
  installPackages(missing(BUILD_PACKAGES));
  say(`Installing code-server ${wantedVersion()} into ${INSTALLATION}, about two minutes ...`);
  mkdirSync(INSTALLATION, { recursive: true });
  for (const name of ['package.json', 'package-lock.json']) {
    copyFileSync(join(PINS, name), join(INSTALLATION, name));
  }
  run('npm', ['ci', '--no-audit', '--no-fund'], {
    cwd: INSTALLATION,
    env: { ...process.env, ...headers() },
  });
  if (installedVersion() !== wantedVersion()) {
    throw new Error(`npm has installed no code-server ${wantedVersion()} in ${INSTALLATION}.`);
  }
  execFileSync(process.execPath, [CODE_SERVER, '--version'], { stdio: 'ignore' });
}

/** This very Node to build for, where it brings its headers along; npm would download them. */
function headers(): Record<string, string> {
  const prefix = dirname(dirname(process.execPath));
  const has = existsSync(join(prefix, 'include/node/node.h'));
  return has ? { npm_config_nodedir: prefix } : {};
}

function run(
  command: string,
  args: string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): void {
  const done = spawnSync(command, args, { encoding: 'utf8', ...options });
  if (done.status !== 0) {
    const said = `${done.stdout}${done.stderr}`.slice(-4000);
    throw new Error(`${command} ${args.join(' ')} failed.\n${done.error?.message ?? said}`);
  }
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

try {
  installCodeServer();
  installPackages(chromium() === undefined ? ['chromium'] : []);
} catch (error) {
  const reason = error instanceof Error ? error.message : String(error);
  process.stderr.write(`The tests in a real VS Code cannot be installed: ${reason}\n`);
  process.exitCode = 1;
}
