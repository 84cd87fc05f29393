import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';

import type { Wheel } from './launch.ts';
import { killTree, TREE } from './process_tree.ts';
import { type Interpreter, probe, type Python, pythonIn } from './python.ts';

/** An environment could not be made. The message is made for the user. */
export class EnvironmentFailed extends Error {}

/** The user has cancelled the making. */
export class EnvironmentCancelled extends Error {
  constructor() {
    super('Nothing was installed.');
  }
}

/** What is told while an environment is made. */
export interface Making {
  signal: AbortSignal;
  /** A word on what is done now. */
  onProgress: (message: string) => void;
  /** Every line that Python and pip write. */
  onLine: (line: string) => void;
}

/** `environment.json`: which folder is in use. */
interface Current {
  folder: string;
  /** The wheel's digest: an environment of the same version may hold another build. */
  wheel: string;
  /** The one before, which another window may still run from. */
  previous: string | null;
}

/**
 * The virtual environments of the extension, in a folder of its own. An environment is made
 * in a new folder and named in `environment.json` when it works; until then, and where that
 * fails, the one before stays in use.
 */
export class Environments {
  readonly #folder: string;

  /** @param folder The extension's global storage; it need not exist. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The folder to start Pythons in: empty of the user's files. */
  async emptyFolder(): Promise<string> {
    const folder = join(this.#folder, 'empty');
    await mkdir(folder, { recursive: true });
    return folder;
  }

  /** The Python of the environment in use, which may have broken since. */
  async python(): Promise<Interpreter | null> {
    const current = await this.#current();
    return current ? pythonIn(join(this.#folder, current.folder)) : null;
  }

  /** Whether the environment in use was made from this very wheel. */
  async isOf(wheel: Wheel): Promise<boolean> {
    const current = await this.#current();
    return current !== null && current.wheel === (await digest(wheel.path));
  }

  /**
   * Makes an environment and takes it into use.
   *
   * @throws {EnvironmentFailed} with what to do about it, {EnvironmentCancelled}.
   */
  async make(base: Python, wheel: Wheel, making: Making): Promise<Interpreter> {
    if (!base.makesEnvironments) {
      throw new EnvironmentFailed(noVenv(base));
    }
    await mkdir(this.#folder, { recursive: true });
    const unlock = await lock(join(this.#folder, 'making.lock'));
    const name = `environment-${wheel.version}-${randomBytes(4).toString('hex')}`;
    const folder = join(this.#folder, name);
    try {
      await this.#build(folder, base, wheel, making);
      const before = await this.#current();
      const current = {
        folder: name,
        wheel: await digest(wheel.path),
        previous: before?.folder ?? null,
      };
      await this.#use(current);
      await this.#clear(current);
      return pythonIn(folder);
    } catch (error) {
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
      throw making.signal.aborted ? new EnvironmentCancelled() : error;
    } finally {
      await unlock();
    }
  }

  async #build(folder: string, base: Python, wheel: Wheel, making: Making): Promise<void> {
    const cwd = await this.emptyFolder();
    const { interpreter } = base;
    making.onProgress('Making a virtual environment…');
    const venv = await run(
      { command: base.executable || interpreter.command, args: [] },
      ['-P', '-m', 'venv', folder],
      cwd,
      making,
    );
    if (venv.code !== 0) {
      throw new EnvironmentFailed(explainVenv(base, venv.lines));
    }
    making.onProgress('Installing the sidecar…');
    const python = pythonIn(folder);
    const options = ['--no-input', '--disable-pip-version-check', '--progress-bar', 'off'];
    const pip = await run(
      python,
      ['-P', '-m', 'pip', 'install', ...options, wheel.path],
      cwd,
      making,
    );
    if (pip.code !== 0) {
      throw new EnvironmentFailed(explainPip(wheel, pip.lines));
    }
    making.onProgress('Looking whether it works…');
    const answer = await probe(python, cwd);
    const works = await run(python, ['-P', '-m', 'acp_sidecar', '--version'], cwd, making);
    if (!answer.ok || answer.python.sidecar !== wheel.version || works.code !== 0) {
      const said = answer.ok ? lastOf(works.lines) : answer.reason;
      throw new EnvironmentFailed(`The sidecar was installed but does not start. ${said}`.trim());
    }
  }

  async #current(): Promise<Current | null> {
    let text: string;
    try {
      text = await readFile(join(this.#folder, 'environment.json'), 'utf8');
    } catch {
      return null;
    }
    return parseCurrent(text);
  }

  async #use(current: Current): Promise<void> {
    const file = join(this.#folder, 'environment.json');
    const beside = `${file}.${process.pid}`;
    await writeFile(beside, JSON.stringify(current, null, 2));
    await rename(beside, file);
  }

  /** Removes what is left of earlier environments, except the one before. */
  async #clear(current: Current): Promise<void> {
    const kept = [current.folder, current.previous];
    for (const name of await readdir(this.#folder)) {
      if (name.startsWith('environment-') && !kept.includes(name)) {
        // One that is in use on Windows cannot be removed; the next time will do.
        await rm(join(this.#folder, name), { recursive: true, force: true }).catch(() => undefined);
      }
    }
  }
}

/** Reads `environment.json`; null where it is not one. */
export function parseCurrent(text: string): Current | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const { folder, wheel, previous } = (value ?? {}) as Record<string, unknown>;
  // A name only: what lies elsewhere is not ours.
  if (typeof folder !== 'string' || basename(folder) !== folder || typeof wheel !== 'string') {
    return null;
  }
  return { folder, wheel, previous: typeof previous === 'string' ? previous : null };
}

/** Says what to do where `python -m venv` has failed. */
export function explainVenv(base: Python, lines: readonly string[]): string {
  const text = lines.join('\n');
  if (/ensurepip is not|No module named '?(venv|ensurepip)/.test(text)) {
    return noVenv(base);
  }
  return text.includes('No space left')
    ? 'The disk is full: no environment could be made.'
    : `No environment could be made with ${base.interpreter.command}. ${lastOf(lines)}`.trim();
}

/** Says what to do where `pip install` has failed. */
export function explainPip(wheel: Wheel, lines: readonly string[]): string {
  const text = lines.join('\n');
  const byHand = `You can also install "${wheel.path}" into a Python of yours by hand, and name that Python in the setting acp.pythonPath.`;
  if (text.includes('No space left')) {
    return 'The disk is full: the packages that the sidecar needs could not be installed.';
  }
  if (/CERTIFICATE_VERIFY_FAILED|SSLError|certificate verify failed/.test(text)) {
    return `pip does not trust the certificate of the package index. Behind a proxy that has one of its own, tell pip of it ("pip config set global.cert FILE") and try again. ${byHand}`;
  }
  if (/ProxyError|Cannot connect to proxy|407 Proxy/.test(text)) {
    return `pip cannot get through the proxy to the package index. Tell pip of your proxy ("pip config set global.proxy URL") and try again. ${byHand}`;
  }
  if (UNREACHABLE.test(text)) {
    return `The packages that the sidecar needs could not be downloaded: the package index cannot be reached. Go online and try again; pip's own settings for a proxy ("global.proxy") and for an index of yours ("global.index-url") are used. ${byHand}`;
  }
  const lacking = /No matching distribution found for ([^\s(]+)/.exec(text)?.[1];
  if (lacking !== undefined) {
    // Of an index that does not answer pip may say no more than that.
    const maybe = text.includes('(from versions: none)') ? ', or it cannot be reached' : '';
    return `The package index has no ${lacking} that fits this Python and this machine${maybe}. An index of yours is named by "pip config set global.index-url URL". ${byHand}`;
  }
  return `The sidecar could not be installed. ${lastOf(lines)} "ACP: Show Log" has all that pip said. ${byHand}`;
}

const UNREACHABLE =
  /NewConnectionError|NameResolutionError|ConnectTimeoutError|ReadTimeoutError|Failed to establish|name resolution|Connection (refused|reset)|Network is unreachable|getaddrinfo failed/;

function noVenv({ interpreter, version }: Python): string {
  const [major, minor] = version;
  return `${interpreter.command} cannot make virtual environments: its modules venv and ensurepip are missing. On Debian and Ubuntu install the package python${major}.${minor}-venv ("sudo apt install python${major}.${minor}-venv"), then try again.`;
}

function lastOf(lines: readonly string[]): string {
  const errors = lines.filter((line) => /^ERROR:|Error:/.test(line));
  return (errors.at(-1) ?? lines.filter((line) => line.trim()).at(-1) ?? '').trim();
}

interface Run {
  code: number | null;
  lines: string[];
}

async function run(
  python: Interpreter,
  args: string[],
  cwd: string,
  { signal, onLine, onProgress }: Making,
): Promise<Run> {
  signal.throwIfAborted();
  const child = spawn(python.command, [...python.args, ...args], {
    cwd,
    env: { ...process.env, PYTHONUTF8: '1', PIP_NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...TREE,
  });
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line);
      onLine(line);
      const package_ = /^(?:Collecting|Downloading) ([A-Za-z][\w.-]*?)(?:[\s<>=!~[;(]|-\d|$)/.exec(
        line,
      );
      if (package_?.[1]) {
        onProgress(`Downloading ${package_[1]}…`);
      } else if (line.startsWith('Installing collected')) {
        onProgress('Installing…');
      }
    });
  }
  const abort = () => killTree(child);
  signal.addEventListener('abort', abort);
  try {
    return await new Promise<Run>((resolve, reject) => {
      child.on('error', (error) =>
        reject(new EnvironmentFailed(`${python.command} cannot be started: ${error.message}`)),
      );
      child.on('close', (code) => resolve({ code, lines }));
    }).then((ended) => {
      signal.throwIfAborted();
      return ended;
    });
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** Takes a lock that another window may hold. One whose owner is gone is taken over. */
async function lock(file: string): Promise<() => Promise<void>> {
  for (let attempt = 0; attempt < 2; attempt++) {
    try {
      const handle = await open(file, 'wx');
      await handle.writeFile(String(process.pid));
      await handle.close();
      return () => rm(file, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
        throw new EnvironmentFailed(
          `No environment can be made in ${file.slice(0, -basename(file).length)}: ${(error as Error).message}`,
        );
      }
    }
    if (await isHeld(file)) {
      throw new EnvironmentFailed('Another window is making the environment. Try again after.');
    }
    await rm(file, { force: true });
  }
  throw new EnvironmentFailed('Another window is making the environment. Try again after.');
}

async function isHeld(file: string): Promise<boolean> {
  const owner = await readFile(file, 'utf8').catch(() => '');
  const since = await stat(file).then(
    ({ mtimeMs }) => Date.now() - mtimeMs,
    () => Infinity,
  );
  // Another process may have got the number of one that is gone.
  return isAlive(Number(owner)) && since < 15 * 60_000;
}

function isAlive(pid: number): boolean {
  if (!pid) {
    return false;
  }
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function digest(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
