import { type ChildProcess, spawn } from 'node:child_process';

/** Options of a child whose whole tree can be ended: elsewhere than on Windows a group. */
export const TREE = { detached: process.platform !== 'win32', windowsHide: true };

/** Ends a child that was started with {@link TREE}, and all that it has started. */
export function killTree(child: ChildProcess): void {
  const { pid } = child;
  if (pid === undefined) {
    return;
  }
  if (process.platform === 'win32') {
    spawn('taskkill', ['/pid', String(pid), '/t', '/f'], { stdio: 'ignore', windowsHide: true });
    return;
  }
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}
