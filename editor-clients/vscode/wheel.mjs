// Builds the sidecar's wheel into bundled/: the extension makes its environment from it.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { env, exit, platform } from 'node:process';

const root = join(import.meta.dirname, '..', '..');
const bundled = join(import.meta.dirname, 'bundled');
const made = join(root, '.venv', platform === 'win32' ? 'Scripts/python.exe' : 'bin/python');
const python = env['PYTHON'] ?? (existsSync(made) ? made : 'python3');

mkdirSync(bundled, { recursive: true });
for (const name of readdirSync(bundled).filter((name) => name.endsWith('.whl'))) {
  rmSync(join(bundled, name));
}
const { status } = spawnSync(
  python,
  ['-m', 'pip', 'wheel', '--quiet', '--no-deps', '--wheel-dir', bundled, root],
  { stdio: 'inherit' },
);
exit(status ?? 1);
