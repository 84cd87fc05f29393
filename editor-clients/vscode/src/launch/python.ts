import { spawn } from 'node:child_process';
import { existsSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, posix, win32 } from 'node:path';

import { killTree, TREE } from './process_tree.ts';

/** How a Python is started: a command and what stands before its other arguments. */
export interface Interpreter {
  command: string;
  args: string[];
}

/** What a Python said of itself. */
export interface Python {
  interpreter: Interpreter;
  /** `sys.executable`: the interpreter itself, not a shim that chooses one by the folder. */
  executable: string;
  version: [number, number, number];
  prefix: string;
  /** The version of the package acp-sidecar that it has, or null. */
  sidecar: string | null;
  /** Whether it has what makes virtual environments; Debian leaves it out. */
  makesEnvironments: boolean;
}

/** What came of asking; `old` is one that is too old for the sidecar. */
export type Probe = { ok: true; python: Python } | { ok: false; reason: string; old?: true };

/** The oldest Python that the sidecar runs in. */
const OLDEST: readonly [number, number] = [3, 11];

const PROBE_SECONDS = 10;

// Reads what is installed and imports nothing of it.
const QUESTION = `
import json, sys
from importlib import metadata, util
try:
    sidecar = metadata.version("acp-sidecar")
except metadata.PackageNotFoundError:
    sidecar = None
print(json.dumps({"version": sys.version_info[:3], "prefix": sys.prefix,
    "executable": sys.executable, "sidecar": sidecar,
    "venv": all(util.find_spec(name) for name in ("venv", "ensurepip"))}))
`;

/** Names under which a Python may stand on PATH, the best first. */
export function names(platform: NodeJS.Platform): Interpreter[] {
  const plain = ['python3.13', 'python3.12', 'python3.11', 'python3', 'python'];
  const found = plain.map((command) => ({ command, args: [] as string[] }));
  return platform === 'win32' ? [{ command: 'py', args: ['-3'] }, ...found] : found;
}

/**
 * The files that a command's name may stand for on PATH. Relative folders of PATH are left
 * out: they would be the workspace's.
 */
export function filesOnPath(
  command: string,
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform,
): string[] {
  const path = platform === 'win32' ? win32 : posix;
  const value = Object.entries(env).find(([name]) => name.toUpperCase() === 'PATH')?.[1] ?? '';
  const endings = platform === 'win32' ? ['.exe', '.bat', '.cmd'] : [''];
  return value
    .split(path.delimiter)
    .filter((folder) => path.isAbsolute(folder))
    .flatMap((folder) => endings.map((ending) => path.join(folder, command + ending)));
}

/** Every Python on PATH, in the order in which they are to be preferred, each file once. */
export function pythonsOnPath(
  env: NodeJS.ProcessEnv = process.env,
  platform: NodeJS.Platform = process.platform,
): Interpreter[] {
  const found = new Map<string, Interpreter>();
  for (const { command, args } of names(platform)) {
    for (const file of filesOnPath(command, env, platform).filter(isFile)) {
      // The folder alone is resolved: a virtual environment's python is a link to another.
      const same = `${realpathSync(dirname(file))}/${basename(file)}`;
      if (!found.has(same)) {
        found.set(same, { command: file, args });
      }
    }
  }
  return [...found.values()];
}

/** The Python of a virtual environment. */
export function pythonIn(
  environment: string,
  platform: NodeJS.Platform = process.platform,
): Interpreter {
  const command =
    platform === 'win32'
      ? win32.join(environment, 'Scripts', 'python.exe')
      : posix.join(environment, 'bin', 'python');
  return { command, args: [] };
}

/**
 * Asks a Python what it is, once.
 *
 * @param cwd A folder that is not the user's: nothing of a workspace is ever imported, and no
 * shim chooses by it.
 */
export function probe(
  interpreter: Interpreter,
  cwd: string,
  seconds = PROBE_SECONDS,
): Promise<Probe> {
  return new Promise((resolve) => {
    if (!existsSync(interpreter.command)) {
      resolve({ ok: false, reason: `There is no file ${interpreter.command}.` });
      return;
    }
    // -P is younger than the oldest Pythons, which therefore say that they do not know it.
    const child = spawn(interpreter.command, [...interpreter.args, '-P', '-c', QUESTION], {
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
      ...TREE,
    });
    let out = '';
    let err = '';
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      killTree(child);
    }, seconds * 1000);
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
    child.on('error', (error) => {
      clearTimeout(timer);
      resolve({ ok: false, reason: `${interpreter.command} cannot be started: ${error.message}.` });
    });
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve(
        late
          ? {
              ok: false,
              reason: `${interpreter.command} has not answered within ${seconds} seconds.`,
            }
          : readAnswer(interpreter, code, out, err),
      );
    });
  });
}

/** What the output of a probe means. */
export function readAnswer(
  interpreter: Interpreter,
  code: number | null,
  out: string,
  err: string,
): Probe {
  const answer = code === 0 ? parsed(out) : null;
  if (answer) {
    const python = { interpreter, ...answer };
    return isOld(python.version)
      ? { ok: false, reason: tooOld(interpreter, python.version.join('.')), old: true }
      : { ok: true, python };
  }
  if (/unknown option:? -P/i.test(err)) {
    return { ok: false, reason: tooOld(interpreter, null), old: true };
  }
  const last = err.trim().split('\n').at(-1)?.trim();
  const said = last ? ` It says: ${last}` : '';
  return { ok: false, reason: `${interpreter.command} is not a Python that works.${said}` };
}

function tooOld(interpreter: Interpreter, version: string | null): string {
  const needed = OLDEST.join('.');
  return version
    ? `${interpreter.command} is Python ${version}; ${needed} or newer is needed.`
    : `${interpreter.command} is older than Python ${needed}, which is needed.`;
}

function isOld([major, minor]: [number, number, number]): boolean {
  return major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
}

function parsed(out: string): Omit<Python, 'interpreter'> | null {
  let answer: unknown;
  try {
    // A sitecustomize may print before.
    answer = JSON.parse(out.trim().split('\n').at(-1) ?? '');
  } catch {
    return null;
  }
  if (typeof answer !== 'object' || answer === null) {
    return null;
  }
  const { version, prefix, executable, sidecar, venv } = answer as Record<string, unknown>;
  const isVersion =
    Array.isArray(version) && version.length === 3 && version.every((it) => Number.isInteger(it));
  if (!isVersion || typeof prefix !== 'string' || typeof executable !== 'string') {
    return null;
  }
  return {
    version: version as [number, number, number],
    prefix,
    executable,
    sidecar: typeof sidecar === 'string' ? sidecar : null,
    makesEnvironments: venv === true,
  };
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
