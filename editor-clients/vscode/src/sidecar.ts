import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';

import {
  type CancellationToken,
  CancellationTokenSource,
  type Disposable,
  type Event,
  EventEmitter,
  type LogOutputChannel,
  Uri,
  workspace,
} from 'vscode';
import {
  type ClientCapabilities,
  CloseAction,
  ErrorAction,
  type FeatureState,
  LanguageClient,
  type LanguageClientOptions,
  State,
  type StaticFeature,
  type WorkspaceEdit,
} from 'vscode-languageclient/node';

import { readLine, reasonOfEnd } from './ending.ts';
import { configuration, userSettings } from './settings.ts';
import { withoutIcons } from './visible.ts';

type Answer = (params: unknown, token: CancellationToken) => unknown;
type Listener = (params: unknown) => void;

/** One of the sidecar's commands that VS Code has run: of a code lens or a code action. */
export interface RanCommand {
  command: string;
  argument: unknown;
  result: unknown;
}

/** What this client does itself (`experimental.acpSidecar` of docs/protocol.md). */
const ABILITIES = {
  transcript: true,
  reveal: true,
  permission: true,
  changes: true,
  proposals: true,
  terminals: true,
  userActivity: true,
  userEdits: true,
  elicitation: true,
  openTerminal: true,
  selection: true,
  save: true,
  reloads: true,
};

/** Seconds that a sidecar may take until it has answered `initialize`. */
const START_SECONDS = 60;

/** How long a user waits for a sidecar that starts. */
const WAIT_MS = 15_000;

/** Variables of VS Code's own process that would change what its children do. */
const NOT_INHERITED = ['ELECTRON_RUN_AS_NODE', 'ELECTRON_NO_ASAR', 'VSCODE_ESM_ENTRYPOINT'];

/** The whole command line of a sidecar, and where it runs. */
export interface CommandLine {
  command: string;
  args: string[];
  cwd: string;
}

/** The sidecar was asked for something while it does not run. */
export class NotRunning extends Error {
  constructor() {
    super('The sidecar does not run. "ACP: Restart the Sidecar" starts it.');
  }
}

/** The sidecar has ended before it had answered. */
export class EndedEarly extends Error {
  /** Whether something from outside has ended it, so that the next start may go well. */
  readonly killed: boolean;

  constructor(message: string, killed: boolean) {
    super(message);
    this.killed = killed;
  }
}

/**
 * The sidecar as a language server. Handlers are registered once, for every client that is
 * started after and before, so that no concern has to know of restarts.
 */
export class Sidecar implements Disposable {
  readonly #log: LogOutputChannel;
  readonly #requests = new Map<string, Answer>();
  readonly #notifications = new Map<string, Listener[]>();
  readonly #changed = new EventEmitter<boolean>();
  readonly #ran = new EventEmitter<RanCommand>();
  readonly #ended = new EventEmitter<string>();
  /** The files that are edited now at the sidecar's word, and how often. */
  readonly #edited = new Map<string, number>();
  #client: LanguageClient | null = null;
  #process: ChildProcessWithoutNullStreams | null = null;

  constructor(log: LogOutputChannel) {
    this.#log = log;
  }

  /** Fires true when the sidecar has answered `initialize`, false when it is gone. */
  get onDidChangeRunning(): Event<boolean> {
    return this.#changed.event;
  }

  /** Code lenses and code actions drop what their command has answered; here it is. */
  get onDidRunCommand(): Event<RanCommand> {
    return this.#ran.event;
  }

  /** Fires with the reason, a sentence, when a sidecar that ran has ended unasked. */
  get onDidEnd(): Event<string> {
    return this.#ended.event;
  }

  /** Whether a change of this document that comes now is the sidecar's (`workspace/applyEdit`). */
  edits(uri: string): boolean {
    return this.#edited.has(uri);
  }

  get running(): boolean {
    return this.#client?.state === State.Running;
  }

  /**
   * Waits until it runs, for what a user asks of a window that has only just opened.
   *
   * @throws {NotRunning} where it does not soon.
   */
  async whenRunning(): Promise<void> {
    if (this.running) {
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        subscription.dispose();
        reject(new NotRunning());
      }, WAIT_MS);
      const subscription = this.#changed.event((running) => {
        if (running) {
          clearTimeout(timer);
          subscription.dispose();
          resolve();
        }
      });
    });
  }

  /** Answers a request of the sidecar's. One handler a method. Before the first start. */
  onRequest<P, R>(
    method: string,
    handler: (params: P, token: CancellationToken) => R | Promise<R>,
  ): void {
    this.#requests.set(method, handler as Answer);
  }

  /** Hears a notification of the sidecar's. Before the first start. */
  onNotification<P>(method: string, handler: (params: P) => void): void {
    const handlers = this.#notifications.get(method) ?? [];
    handlers.push(handler as Listener);
    this.#notifications.set(method, handlers);
  }

  /**
   * Runs one of the sidecar's commands (`workspace/executeCommand`).
   *
   * @throws {NotRunning} or the sidecar's error; its message is made for the user.
   */
  async command<R>(name: string, argument: object = {}, token?: CancellationToken): Promise<R> {
    return this.request<R>(
      'workspace/executeCommand',
      { command: name, arguments: [argument] },
      token,
    );
  }

  async request<R>(method: string, params: object, token?: CancellationToken): Promise<R> {
    const client = this.#client;
    if (client?.state !== State.Running) {
      throw new NotRunning();
    }
    return token
      ? client.sendRequest<R>(method, params, token)
      : client.sendRequest<R>(method, params);
  }

  /** Tells the sidecar something; nothing is said where it does not run. */
  async notify(method: string, params: object): Promise<void> {
    if (this.#client?.state === State.Running) {
      try {
        await this.#client.sendNotification(method, params);
      } catch (error) {
        // It has just ended, which is told by itself.
        this.#log.debug(`${method} was not sent: ${String(error)}`);
      }
    }
  }

  /**
   * Starts it, ending the one that runs.
   *
   * @throws {Error} where the process does not start or does not answer; its message is made
   * for the user.
   */
  async start(line: CommandLine): Promise<void> {
    await this.stop();
    const child = await spawned(line);
    const said: string[] = [];
    const client = new Client(
      'acp',
      'ACP sidecar',
      () => Promise.resolve(child),
      this.#options(said),
    );
    this.#client = client;
    this.#process = child;
    client.registerFeature(new Abilities());
    for (const [method, handler] of this.#requests) {
      client.onRequest(method, handler);
    }
    for (const [method, handlers] of this.#notifications) {
      client.onNotification(method, (params: unknown) => {
        for (const handler of handlers) {
          handler(params);
        }
      });
    }
    let started = false;
    const ended = new Promise<never>((_, reject) => {
      void endOf(child).then(({ code, signal }) => {
        const reason = reasonOfEnd(code, signal, said, started);
        reject(new EndedEarly(reason, signal !== null));
        if (started && client === this.#client) {
          this.#client = null;
          this.#process = null;
          this.#changed.fire(false);
          this.#ended.fire(reason);
        }
      });
    });
    // Where it ends later nobody waits here any more.
    ended.catch(() => undefined);
    const tooLate = delay(START_SECONDS * 1000, null, { ref: false }).then(() => {
      throw new Error(`The sidecar has not answered within ${START_SECONDS} seconds.`);
    });
    tooLate.catch(() => undefined);
    const start = client.start();
    start.catch(() => undefined);
    try {
      // A sidecar that has ended says why; that the connection is closed says nothing.
      await Promise.race([start.catch(() => Promise.race([ended, tooLate])), ended, tooLate]);
    } catch (error) {
      if (client === this.#client) {
        await this.stop();
      }
      throw error;
    }
    started = true;
    this.#changed.fire(true);
  }

  async stop(): Promise<void> {
    const [client, child] = [this.#client, this.#process];
    this.#client = null;
    this.#process = null;
    if (!client || !child) {
      return;
    }
    this.#changed.fire(false);
    try {
      await client.dispose();
    } catch (error) {
      // One that is still starting cannot be stopped by its protocol; the end of its input will.
      this.#log.debug(`Stopping: ${String(error)}`);
    }
    if (isRunning(child)) {
      child.stdin.destroy();
      const timer = setTimeout(() => child.kill('SIGKILL'), 3000);
      child.once('exit', () => clearTimeout(timer));
    }
  }

  dispose(): void {
    void this.stop();
    this.#changed.dispose();
    this.#ran.dispose();
    this.#ended.dispose();
  }

  #count(uris: string[], by: number): void {
    for (const uri of uris) {
      const count = (this.#edited.get(uri) ?? 0) + by;
      if (count > 0) {
        this.#edited.set(uri, count);
      } else {
        this.#edited.delete(uri);
      }
    }
  }

  #options(said: string[]): LanguageClientOptions {
    return {
      documentSelector: [{ scheme: 'file' }],
      outputChannel: this.#log,
      initializationOptions: () => userSettings(workspace.getConfiguration('acp')),
      middleware: {
        handleWorkDoneProgress: (token, params, next) => {
          // It stands in the status bar, which draws icons. The client passes on this object.
          if (params.kind !== 'end' && params.message !== undefined) {
            params.message = withoutIcons(params.message);
          }
          next(token, params);
        },
        executeCommand: async (command, args: unknown[], next) => {
          const result: unknown = await next(command, args);
          this.#ran.fire({ command, argument: args[0], result });
          return result;
        },
        workspace: {
          handleApplyEdit: async (params, next) => {
            const uris = filesOf(params.edit);
            this.#count(uris, 1);
            try {
              return await next(params, new CancellationTokenSource().token);
            } finally {
              this.#count(uris, -1);
            }
          },
          configuration: (params) =>
            params.items.map((item) =>
              item.section === 'acp' ? configuration(workspace.getConfiguration('acp')) : null,
            ),
        },
      },
      stdioOptions: {
        // The protocol's own; nothing is read from it here.
        stdout: () => undefined,
        stderr: (input) => {
          createInterface({ input }).on('line', (line) => {
            const { level, text } = readLine(line);
            this.#log[level](text);
            said.push(text);
            said.splice(0, said.length - 20);
          });
        },
      },
      // Whether it is started again is decided where its end is told.
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => ({ action: CloseAction.DoNotRestart, handled: true }),
      },
      initializationFailedHandler: () => false,
    };
  }
}

/** A client that leaves it to us what the user is told of its life. */
class Client extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}

async function spawned(line: CommandLine): Promise<ChildProcessWithoutNullStreams> {
  const env = { ...process.env };
  for (const name of NOT_INHERITED) {
    Reflect.deleteProperty(env, name);
  }
  const child = spawn(line.command, line.args, { cwd: line.cwd, env, windowsHide: true });
  await new Promise((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (error) =>
      reject(new Error(`${line.command} cannot be started: ${error.message}`)),
    );
  });
  // Later ones, of a signal that finds nobody, are not ours to tell.
  child.on('error', () => undefined);
  // What is written to one that has just ended: its end is told.
  child.stdin.on('error', () => undefined);
  return child;
}

/** Its end, when it has said its last word, which a child of its own must not put off. */
async function endOf(child: ChildProcessWithoutNullStreams): Promise<{
  code: number | null;
  signal: string | null;
}> {
  const closed = once(child, 'close');
  await once(child, 'exit');
  await Promise.race([closed, delay(500)]);
  return { code: child.exitCode, signal: child.signalCode };
}

function isRunning(child: ChildProcessWithoutNullStreams): boolean {
  return child.exitCode === null && child.signalCode === null;
}

/** The files whose texts an edit changes, as VS Code writes their URIs. */
function filesOf({ changes, documentChanges }: WorkspaceEdit): string[] {
  const versioned = (documentChanges ?? []).flatMap((change) =>
    'textDocument' in change ? [change.textDocument.uri] : [],
  );
  return [...Object.keys(changes ?? {}), ...versioned].map((uri) => Uri.parse(uri).toString());
}

/** Declares what this client draws by itself. */
class Abilities implements StaticFeature {
  fillClientCapabilities(capabilities: ClientCapabilities): void {
    const experimental = (capabilities.experimental ?? {}) as Record<string, unknown>;
    capabilities.experimental = { ...experimental, acpSidecar: ABILITIES };
  }

  initialize(): void {
    // Nothing of the server's depends on it.
  }

  getState(): FeatureState {
    return { kind: 'static' };
  }

  clear(): void {
    // Nothing is kept.
  }
}
