/** One VS Code: a code-server with folders, settings and an environment of its own. */

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';

import { CODE_SERVER, PYTHON, REPOSITORY, vsix } from './places.ts';
import { family, MARK, type Process, untilGone } from './processes.ts';
import { until } from './until.ts';

/** What a test wants to be different. */
export interface ServerOptions {
  /** The files of the folder that is opened, by their path in it; bytes where they are no UTF-8. */
  files?: Record<string, string | Uint8Array>;
  /** Folders in it that are opened instead of it, as one workspace. */
  folders?: string[];
  /** Settings of the user, more than or instead of {@link SETTINGS}; undefined takes one out. */
  settings?: Record<string, unknown>;
  /** Keys of the user's own: those of the sidecar's commands that nothing else runs. */
  keybindings?: { key: string; command: string; args?: unknown }[];
  /** Variables of the environment; undefined takes one out. */
  env?: Record<string, string | undefined>;
  /** `granted`: there is no such thing as trust. `asked`: VS Code asks whether to trust a folder. */
  trust?: 'granted' | 'asked';
}

const SETTINGS: Record<string, unknown> = {
  'acp.pythonPath': PYTHON,
  'acp.defaultAgent': 'demo',
  'chat.disableAIFeatures': true,
  'editor.autoClosingBrackets': 'never',
  'editor.autoClosingQuotes': 'never',
  'editor.autoIndent': 'none',
  'editor.minimap.enabled': false,
  'editor.parameterHints.enabled': false,
  'editor.quickSuggestions': false,
  'editor.suggestOnTriggerCharacters': false,
  'editor.wordBasedSuggestions': 'off',
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  // In a browser it is "afterDelay", on a desktop "off".
  'files.autoSave': 'off',
  'git.enabled': false,
  // Else each port that anything on this machine listens at is announced.
  'remote.autoForwardPorts': false,
  'security.workspace.trust.enabled': false,
  'telemetry.telemetryLevel': 'off',
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
};
const NOWHERE = 'http://127.0.0.1:9/nowhere';
const ENVIRONMENT = {
  EXTENSIONS_GALLERY: JSON.stringify({
    serviceUrl: NOWHERE,
    itemUrl: NOWHERE,
    resourceUrlTemplate: NOWHERE,
  }),
  ACP_DEMO_PACE: undefined,
};

const run = promisify(execFile);
/** One unpacked extension for all servers of this process: it takes a second to unpack. */
let extensions: Promise<string> | undefined;

/** A code-server that runs. */
export class CodeServer {
  /** The folder that is opened. */
  readonly folder: string;
  /** The user's home. */
  readonly home: string;
  /** What {@link family} knows its processes by. */
  readonly mark = randomUUID();
  readonly #root: string;
  readonly #options: ServerOptions;
  #child: ChildProcess | undefined;
  #port = 0;

  private constructor(options: ServerOptions) {
    this.#options = options;
    this.#root = mkdtempSync(join(tmpdir(), 'acp-vscode-'));
    this.home = join(this.#root, 'home');
    this.folder = join(this.#root, 'project');
    mkdirSync(this.home);
    mkdirSync(this.folder);
  }

  /** Starts one and waits until it answers. */
  static async start(options: ServerOptions = {}): Promise<CodeServer> {
    const server = new CodeServer(options);
    try {
      await server.#start();
    } catch (error) {
      await server.stop();
      throw error;
    }
    return server;
  }

  /** What the browser opens. */
  get url(): string {
    const [kind, path] =
      this.#options.folders === undefined
        ? ['folder', this.folder]
        : ['workspace', this.#workspace];
    return `http://127.0.0.1:${this.#port}/?${kind}=${encodeURIComponent(path)}`;
  }

  /** Where VS Code and the extension write their logs. */
  get logs(): string {
    return join(this.#userData, 'logs');
  }

  /** The folder in which extensions may keep files for this user. */
  get globalStorage(): string {
    return join(this.#userData, 'User/globalStorage');
  }

  /** The processes it has started, those only whose command line has this in it. */
  processes(words = ''): Process[] {
    return family(this.mark).filter(({ command }) => command.includes(words));
  }

  /** Writes the user's settings; an open window takes them up. */
  configure(settings: Record<string, unknown>): void {
    const all = { ...SETTINGS, ...this.#options.settings, ...settings };
    // What is of the machine is read from one of these files only, what is of the user from the other.
    for (const scope of ['User', 'Machine']) {
      const folder = join(this.#userData, scope);
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, 'settings.json'), JSON.stringify(all, undefined, 2));
    }
  }

  /** Ends it. Whatever it has started must end as well: an error tells what did not. */
  async stop(): Promise<void> {
    this.#child?.kill('SIGTERM');
    try {
      await untilGone(this.mark, 10);
    } finally {
      rmSync(this.#root, { recursive: true, force: true, maxRetries: 3 });
    }
  }

  get #workspace(): string {
    return join(this.#root, 'project.code-workspace');
  }

  get #userData(): string {
    return join(this.#root, 'user-data');
  }

  async #start(): Promise<void> {
    for (const [name, text] of Object.entries(this.#options.files ?? {})) {
      const path = join(this.folder, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    }
    const folders = this.#options.folders?.map((name) => ({ path: join(this.folder, name) }));
    if (folders !== undefined) {
      writeFileSync(this.#workspace, JSON.stringify({ folders }));
    }
    const asked = this.#options.trust === 'asked';
    this.configure(asked ? { 'security.workspace.trust.enabled': true } : {});
    const keys = join(this.#userData, 'User/keybindings.json');
    writeFileSync(keys, JSON.stringify(this.#options.keybindings ?? []));
    const installed = join(this.#root, 'extensions');
    extensions ??= unpacked();
    cpSync(await extensions, installed, { recursive: true });
    this.#child = spawn(
      process.execPath,
      [
        CODE_SERVER,
        ...['--user-data-dir', this.#userData, '--extensions-dir', installed],
        ...['--auth', 'none', '--bind-addr', '127.0.0.1:0'],
        ...['--disable-telemetry', '--disable-update-check', '--disable-getting-started-override'],
        ...(asked ? [] : ['--disable-workspace-trust']),
      ],
      {
        env: environment({ HOME: this.home, [MARK]: this.mark, ...this.#options.env }),
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    let output = '';
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (output += text));
    }
    const address = /listening on http:\/\/127\.0\.0\.1:(\d+)/;
    try {
      await until('code-server listens', () => address.test(output));
    } catch (error) {
      throw new Error(`code-server did not start:\n${output}`, { cause: error });
    }
    this.#port = Number(address.exec(output)?.[1]);
  }
}

async function unpacked(): Promise<string> {
  if (!existsSync(CODE_SERVER)) {
    throw new Error(`There is no code-server at ${CODE_SERVER}: run "npm run install-vscode".`);
  }
  const root = mkdtempSync(join(tmpdir(), 'acp-vscode-extension-'));
  process.on('exit', () => {
    rmSync(root, { recursive: true, force: true });
  });
  const folder = join(root, 'extensions');
  await run(
    process.execPath,
    [
      CODE_SERVER,
      ...['--user-data-dir', join(root, 'user-data'), '--extensions-dir', folder],
      ...['--install-extension', vsix(), '--force'],
    ],
    { env: environment({ HOME: root }) },
  );
  return folder;
}

/** What a user's shell would have: nothing of this test run, and none of its folders in the PATH. */
function environment(more: Record<string, string | undefined>): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(XDG_|npm_|NODE_|VIRTUAL_ENV|ACP_|PYTHON)/.test(name),
  );
  const path = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !folder.startsWith(REPOSITORY) && !folder.includes('node_modules'))
    .join(delimiter);
  return { ...Object.fromEntries(kept), PATH: path, ...ENVIRONMENT, ...more };
}
