/** Where things are: the extension, the repository, what is installed for the tests. */

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';

/** The folder of the extension. */
export const EXTENSION = resolve(import.meta.dirname, '../../..');

/** The folder of the repository. */
export const REPOSITORY = resolve(EXTENSION, '../..');

/** Where screenshots and logs go; git ignores it. */
export const RESULTS = join(EXTENSION, 'test-results');

/** Where code-server is installed; `ACP_VSCODE_TEST` names another folder that has it. */
export const INSTALLATION = process.env.ACP_VSCODE_TEST ?? join(EXTENSION, '.vscode-test');

/** The script that is code-server, to be run by Node. */
export const CODE_SERVER = join(INSTALLATION, 'node_modules/code-server/out/node/entry.js');

/** A Python that has the sidecar: the one that runs the tests of the repository. */
export const PYTHON = join(REPOSITORY, '.venv/bin/python');

/** The name of the extension as VS Code knows it, `publisher.name`. */
export function extensionId(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(EXTENSION, 'package.json'), 'utf8'));
  const { publisher, name } = manifest as { publisher: string; name: string };
  return `${publisher}.${name}`;
}

/**
 * The packed extension: what `ACP_VSIX` names, else the newest in the folder of the extension.
 *
 * @throws Error there is none
 */
export function vsix(): string {
  const named = process.env.ACP_VSIX;
  if (named !== undefined) {
    return named;
  }
  const packed = readdirSync(EXTENSION)
    .filter((name) => name.endsWith('.vsix'))
    .map((name) => join(EXTENSION, name))
    .sort((one, other) => statSync(other).mtimeMs - statSync(one).mtimeMs);
  if (packed[0] === undefined) {
    throw new Error('There is no .vsix to be tested: run "npm run package" first.');
  }
  return packed[0];
}

/**
 * The path of a program.
 *
 * @returns undefined where the PATH does not have it
 */
export function which(...names: string[]): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(existsSync);
}

/** The browser: what `CHROMIUM` names, else Chromium or Chrome of the PATH; undefined without any. */
export function chromium(): string | undefined {
  return process.env.CHROMIUM ?? which('chromium', 'chromium-browser', 'google-chrome');
}

/** How Chromium is started for a test. */
export function launchOptions(): { executablePath: string; args: string[] } {
  const executablePath = chromium();
  if (executablePath === undefined) {
    throw new Error('There is no Chromium: run "npm run install-vscode".');
  }
  return { executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-quic'] };
}
