import {
  type CancellationToken,
  type Disposable,
  type Event,
  EventEmitter,
  type LogOutputChannel,
  workspace,
} from 'vscode';
import {
  type ClientCapabilities,
  CloseAction,
  type ErrorHandler,
  ErrorAction,
  type FeatureState,
  LanguageClient,
  type LanguageClientOptions,
  State,
  type StaticFeature,
} from 'vscode-languageclient/node';

import type { Launch } from './launch.ts';
import { configuration, userSettings } from './settings.ts';

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
};

/** The sidecar was asked for something while it does not run. */
export class NotRunning extends Error {
  constructor() {
    super('The sidecar does not run. "ACP: Restart the Sidecar" starts it.');
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
  #client: LanguageClient | null = null;

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

  get running(): boolean {
    return this.#client?.state === State.Running;
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
      await this.#client.sendNotification(method, params);
    }
  }

  /**
   * Starts it, ending the one that runs.
   *
   * @throws {Error} where the process does not start or does not answer.
   */
  async start(launch: Launch): Promise<void> {
    await this.stop();
    const client = new LanguageClient(
      'acp',
      'ACP sidecar',
      { command: launch.command, args: launch.args, options: { env: launch.env } },
      this.#options(),
    );
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
    client.onDidChangeState(({ newState }) => {
      if (client === this.#client && newState !== State.Starting) {
        this.#changed.fire(newState === State.Running);
      }
    });
    this.#client = client;
    await client.start();
  }

  async stop(): Promise<void> {
    const client = this.#client;
    this.#client = null;
    if (client) {
      this.#changed.fire(false);
      await client.dispose();
    }
  }

  dispose(): void {
    void this.stop();
    this.#changed.dispose();
    this.#ran.dispose();
  }

  #options(): LanguageClientOptions {
    return {
      documentSelector: [{ scheme: 'file' }],
      outputChannel: this.#log,
      initializationOptions: () => userSettings(workspace.getConfiguration('acp')),
      middleware: {
        executeCommand: async (command, args: unknown[], next) => {
          const result: unknown = await next(command, args);
          this.#ran.fire({ command, argument: args[0], result });
          return result;
        },
        workspace: {
          configuration: (params) =>
            params.items.map((item) =>
              item.section === 'acp' ? configuration(workspace.getConfiguration('acp')) : null,
            ),
        },
      },
      errorHandler: new Restarts(),
    };
  }
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

/** Starts a sidecar that died again, up to four times in three minutes. */
class Restarts implements ErrorHandler {
  readonly #deaths: number[] = [];

  error(): { action: ErrorAction } {
    return { action: ErrorAction.Continue };
  }

  closed(): { action: CloseAction; message?: string } {
    const now = Date.now();
    this.#deaths.push(now);
    const recent = this.#deaths.filter((time) => now - time < 180_000).length;
    return recent <= 4
      ? { action: CloseAction.Restart }
      : {
          action: CloseAction.DoNotRestart,
          message: 'The ACP sidecar ended five times in three minutes. "ACP: Show Log" says why.',
        };
  }
}
