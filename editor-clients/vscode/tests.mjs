// Runs the tests of a folder of test/: `node tests.mjs unit`, with options of `node --test` behind.
// By itself Node's runner passes where a pattern finds no file.
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { argv, execPath, exit } from 'node:process';

const [folder, ...options] = argv.slice(2);
const files = globSync(`test/${folder}/**/*.test.ts`, { cwd: import.meta.dirname });
if (files.length === 0) {
  throw new Error(`There are no tests in test/${folder}.`);
}
const { status } = spawnSync(execPath, ['--test', ...options, ...files.sort()], {
  cwd: import.meta.dirname,
  stdio: 'inherit',
});
exit(status ?? 1);
