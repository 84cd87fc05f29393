/**
 * The processes of one VS Code: its server, the extension host, the sidecar, the agents and what
 * those have started, also where they left their group or lost their parent. They are known by a
 * variable of the environment that all of them have.
 */

import { readdirSync, readFileSync } from 'node:fs';

import { until } from './until.ts';

/** The variable whose value is that VS Code's. */
export const MARK = 'ACP_E2E_VSCODE';

/** A process that runs. */
export interface Process {
  pid: number;
  /** Its command line, the words separated by blanks. */
  command: string;
}

/** All that run with this mark. */
export function family(mark: string): Process[] {
  const wanted = `${MARK}=${mark}`;
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => read(pid, 'environ').includes(wanted))
    .map((pid) => ({ pid: Number(pid), command: read(pid, 'cmdline').join(' ').trim() }))
    .filter((process) => process.command !== '');
}

/** Waits until none of them runs. Those that still run then are ended, and are an error. */
export async function untilGone(mark: string, seconds: number): Promise<void> {
  try {
    await until('all processes have ended', () => family(mark).length === 0, seconds);
  } catch {
    const left = family(mark);
    for (const { pid } of left) {
      kill(pid, 'SIGKILL');
    }
    const lines = left.map(({ pid, command }) => `  ${pid} ${command}`).join('\n');
    throw new Error(`Still running ${seconds} s after VS Code was ended:\n${lines}`);
  }
}

/** Sends a signal; one that has ended meanwhile is no error. */
export function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) {
      throw error;
    }
  }
}

/** The NUL-separated words of a file; none where the process has ended meanwhile. */
function read(pid: string, file: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8').split('\0');
  } catch {
    return [];
  }
}
