import { readdirSync } from 'node:fs';
import { join } from 'node:path';

import { type Interpreter, type Probe, probe, type Python, pythonsOnPath } from './python.ts';

/** How the sidecar is started. */
export interface Launch {
  command: string;
  /** What stands before the sidecar's own arguments. */
  args: string[];
}

/** The package that comes with the extension. */
export interface Wheel {
  path: string;
  version: string;
}

/** Where a Python with the sidecar is looked for. */
export interface Places {
  /** `acp.pythonPath`. */
  setting: string | null;
  /** The Python of the environment that the extension has made, if it has. */
  environment: Interpreter | null;
  wheel: Wheel;
  /** A folder that is not the user's, to start Pythons in. */
  cwd: string;
  env?: NodeJS.ProcessEnv;
}

/** What was found. `own` is the extension's environment. `missing` can be mended by making an environment where it has a `base`. */
export type Found =
  | { kind: 'ready'; launch: Launch; python: Python; own: boolean }
  | { kind: 'missing'; reason: string; base: Python | null };

/**
 * Finds a Python that has the sidecar: the one of the setting, the environment of the extension,
 * then PATH. The setting is the last word: where it names a Python that is unfit, no other is
 * taken, but one that only lacks the package may be what the environment is made from.
 */
export async function findLaunch(places: Places): Promise<Found> {
  const { setting, environment, wheel, cwd } = places;
  if (setting !== null) {
    const answer = await probe({ command: setting, args: [] }, cwd);
    if (!answer.ok) {
      const reason = `The setting acp.pythonPath does not name a usable Python. ${answer.reason}`;
      return { kind: 'missing', reason, base: null };
    }
    if (serves(answer.python.sidecar, wheel.version)) {
      return ready(answer.python);
    }
    return (await own(environment, cwd)) ?? missing(answer.python, wheel);
  }
  const made = await own(environment, cwd);
  if (made) {
    return made;
  }
  const answers = await Promise.all(
    pythonsOnPath(places.env).map((interpreter) => probe(interpreter, cwd)),
  );
  const pythons = answers.flatMap((answer) => (answer.ok ? [answer.python] : []));
  const installed = pythons.find((python) => serves(python.sidecar, wheel.version));
  if (installed) {
    return ready(installed);
  }
  const base = pythons.find(({ makesEnvironments }) => makesEnvironments) ?? pythons[0];
  return base ? missing(base, wheel) : { kind: 'missing', reason: noPython(answers), base: null };
}

/** Whether a sidecar of that version can be used: that of the wheel or a newer one. */
export function serves(version: string | null, wanted: string): boolean {
  return version !== null && compare(version, wanted) >= 0;
}

/** The wheel in a folder, or null. */
export function findWheel(folder: string): Wheel | null {
  for (const name of readdirSync(folder)) {
    const version = /^acp_sidecar-([^-]+)-.*\.whl$/.exec(name)?.[1];
    if (version !== undefined) {
      return { path: join(folder, name), version };
    }
  }
  return null;
}

async function own(environment: Interpreter | null, cwd: string): Promise<Found | null> {
  const answer = environment ? await probe(environment, cwd) : null;
  // An older one is used until a newer one is made.
  return answer?.ok && answer.python.sidecar !== null ? ready(answer.python, true) : null;
}

function ready(python: Python, own = false): Found {
  const { interpreter, executable } = python;
  // A shim on PATH may choose another Python in the folder where the sidecar runs.
  const command = executable || interpreter.command;
  const args = executable ? [] : interpreter.args;
  // -P: a module in the workspace folder must not be taken for the sidecar's.
  return {
    kind: 'ready',
    launch: { command, args: [...args, '-P', '-m', 'acp_sidecar'] },
    python,
    own,
  };
}

function missing(base: Python, wheel: Wheel): Found {
  const { interpreter, sidecar } = base;
  const lack =
    sidecar === null
      ? `${interpreter.command} does not have it yet`
      : `${interpreter.command} has its version ${sidecar}, and ${wheel.version} is needed`;
  return {
    kind: 'missing',
    reason: `Agents are run by the sidecar, a Python program that comes with this extension. ${lack}. It can be installed into a Python environment of its own, which takes about half a minute; your Python stays as it is.`,
    base,
  };
}

function noPython(answers: Probe[]): string {
  const [old] = answers.flatMap((answer) => (!answer.ok && answer.old ? [answer.reason] : []));
  const how =
    process.platform === 'win32'
      ? 'Install it from python.org or the Microsoft Store'
      : process.platform === 'darwin'
        ? 'Install it from python.org or with "brew install python"'
        : 'Install it with your package manager (Debian, Ubuntu: "apt install python3 python3-venv")';
  const seen = old ? ` ${old}` : '';
  return `No Python 3.11 or newer was found on PATH.${seen} ${how}, then restart the sidecar; or name one in the setting acp.pythonPath.`;
}

function compare(left: string, right: string): number {
  const numbers = (version: string) =>
    version
      .split(/[.+-]/)
      .map((part) => Number.parseInt(part, 10))
      .map((part) => (Number.isNaN(part) ? 0 : part));
  const [a, b] = [numbers(left), numbers(right)];
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) {
      return difference;
    }
  }
  return 0;
}
