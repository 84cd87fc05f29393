import { join } from 'node:path';

import {
  commands,
  ConfigurationTarget,
  type Disposable,
  type Event,
  EventEmitter,
  type ExtensionContext,
  LogLevel,
  type LogOutputChannel,
  ProgressLocation,
  window,
  workspace,
} from 'vscode';

import type { SidecarView } from '../chat/messages.ts';
import { messageOf } from '../failure.ts';
import { EndedEarly, type Sidecar } from '../sidecar.ts';
import { withoutLinks } from '../visible.ts';
import { Deaths } from './deaths.ts';
import { EnvironmentCancelled, Environments } from './environment.ts';
import { findLaunch, findWheel, type Found, type Launch, type Wheel } from './launch.ts';
import { probe, type Python, pythonsOnPath } from './python.ts';

/** `globalState`: the version of the sidecar for which no environment is wanted. */
const DECLINED = 'acp.environmentDeclined';

/**
 * Keeps the sidecar running: finds what runs it, starts it where it may run, starts it again
 * when it ends, and says in a word how things are.
 */
export class Service implements Disposable {
  readonly #context: ExtensionContext;
  readonly #log: LogOutputChannel;
  readonly #sidecar: Sidecar;
  readonly #environments: Environments;
  readonly #deaths = new Deaths();
  readonly #changed = new EventEmitter<SidecarView>();
  readonly #subscriptions: Disposable[];
  #view: SidecarView = { state: 'starting' };
  #found: Found | null = null;
  #starts: Promise<void> = Promise.resolve();
  #offered = false;
  #trace: string | null = null;

  constructor(context: ExtensionContext, log: LogOutputChannel, sidecar: Sidecar) {
    this.#context = context;
    this.#log = log;
    this.#sidecar = sidecar;
    this.#environments = new Environments(context.globalStorageUri.fsPath);
    this.#subscriptions = [
      sidecar.onDidEnd((reason) => this.#died(reason)),
      workspace.onDidGrantWorkspaceTrust(() => this.start()),
      workspace.onDidChangeWorkspaceFolders(() => {
        if (this.#view.state === 'noFolder') {
          void this.start();
        }
      }),
      workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration('acp.pythonPath')) {
          void this.start();
        }
      }),
      commands.registerCommand('acp.restartSidecar', () => this.restart()),
      commands.registerCommand('acp.makeEnvironment', () => this.makeEnvironment()),
      commands.registerCommand('acp.choosePython', () => this.#choosePython()),
    ];
  }

  /** Whether there is a sidecar to talk to, and what the user can do where there is none. */
  get view(): SidecarView {
    return this.#view;
  }

  get onDidChange(): Event<SidecarView> {
    return this.#changed.event;
  }

  /** What runs the sidecar, once it was found. */
  get launch(): Launch | null {
    return this.#found?.kind === 'ready' ? this.#found.launch : null;
  }

  /** The folder that recordings are written to, or null. Takes effect with the next start. */
  get trace(): string | null {
    return this.#trace;
  }

  set trace(folder: string | null) {
    this.#trace = folder;
  }

  /** Starts the sidecar, or starts it anew. What comes of it is told by `view`. */
  async start(): Promise<void> {
    // One after the other: the last one finds things as they are then.
    this.#starts = this.#starts.then(() => this.#start());
    await this.#starts;
  }

  /** Starts it anew because the user wants it. */
  async restart(): Promise<void> {
    this.#deaths.clear();
    await this.start();
  }

  /** Makes the extension's own environment, with a progress that can be cancelled. */
  async makeEnvironment(): Promise<void> {
    const found = this.#found ?? (await this.#find());
    const base = found.kind === 'ready' ? found.python : found.base;
    if (!base && setting() !== null) {
      await this.#clearSetting(found.kind === 'missing' ? found.reason : '');
      return;
    }
    if (!base) {
      const reason = found.kind === 'missing' ? found.reason : '';
      await this.#tellOf(reason, ['Choose a Python', 'Show Log']);
      return;
    }
    if (found.kind === 'ready' && !found.own) {
      await window.showInformationMessage(
        `No environment is needed: ${base.interpreter.command} has the sidecar.`,
      );
      return;
    }
    if (await this.#make(base)) {
      await this.restart();
    }
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) {
      subscription.dispose();
    }
    this.#changed.dispose();
  }

  async #start(): Promise<void> {
    if (!workspace.isTrusted) {
      this.#show({ state: 'untrusted' });
      return;
    }
    const folder = workspace.workspaceFolders?.find(({ uri }) => uri.scheme === 'file');
    if (!folder) {
      this.#show({ state: 'noFolder' });
      return;
    }
    this.#show({ state: 'starting' });
    try {
      await this.#sidecar.stop();
      const found = await this.#find();
      if (found.kind === 'missing') {
        this.#show({ state: 'missing', reason: found.reason });
        void this.#offer(found);
        return;
      }
      const { command, args } = found.launch;
      const log = ['--log-level', levelOf(this.#log.logLevel)];
      const trace = this.#trace === null ? [] : ['--trace', this.#trace];
      await this.#sidecar.start({
        command,
        args: [...args, 'serve', ...log, ...trace],
        cwd: folder.uri.fsPath,
      });
      this.#show({ state: 'running' });
    } catch (error) {
      const reason = messageOf(error);
      if (error instanceof EndedEarly && error.killed) {
        this.#died(reason);
        return;
      }
      this.#log.error(reason);
      this.#show({ state: 'failed', reason });
      void this.#tellOf(reason, ['Restart', 'Show Log']);
    }
  }

  async #find(): Promise<Found> {
    const wheel = this.#wheel();
    const found = await findLaunch({
      setting: setting(),
      environment: await this.#environments.python(),
      wheel,
      cwd: await this.#environments.emptyFolder(),
    });
    this.#found = found;
    if (found.kind === 'ready') {
      this.#log.info(`The sidecar is run by ${found.launch.command}.`);
      if (
        found.own &&
        !(await this.#environments.isOf(wheel)) &&
        (await this.#make(found.python))
      ) {
        return this.#find();
      }
    } else {
      this.#log.warn(found.reason);
    }
    return found;
  }

  async #make(base: Python): Promise<boolean> {
    const wheel = this.#wheel();
    const before = this.#view;
    this.#show({ state: 'starting', message: 'Installing the sidecar, about half a minute…' });
    const title = `ACP: installing the sidecar ${wheel.version}`;
    const cancellable = { location: ProgressLocation.Notification, title, cancellable: true };
    try {
      await window.withProgress(cancellable, async (progress, token) => {
        const aborter = new AbortController();
        token.onCancellationRequested(() => aborter.abort());
        await this.#environments.make(base, wheel, {
          signal: aborter.signal,
          onProgress: (message) => progress.report({ message }),
          onLine: (line) => this.#log.info(line),
        });
      });
      return true;
    } catch (error) {
      this.#show(before);
      if (!(error instanceof EnvironmentCancelled)) {
        const reason = messageOf(error);
        this.#log.error(reason);
        void this.#tellOf(reason, ['Try Again', 'Choose a Python', 'Show Log']);
      }
      return false;
    }
  }

  #wheel(): Wheel {
    const wheel = findWheel(join(this.#context.extensionPath, 'bundled'));
    if (!wheel) {
      throw new Error('This extension was built without the sidecar. Install it anew.');
    }
    return wheel;
  }

  async #offer({ reason, base }: Extract<Found, { kind: 'missing' }>): Promise<void> {
    const declined = this.#context.globalState.get(DECLINED) === this.#wheel().version;
    if (this.#offered || (base && declined)) {
      return;
    }
    this.#offered = true;
    const buttons = base
      ? ['Make an Environment', 'Choose a Python', 'Never']
      : ['Choose a Python', 'Show Log'];
    await this.#does(await window.showWarningMessage(withoutLinks(reason), ...buttons));
  }

  /** Of all messages with buttons only errors stay until they are read. */
  async #tellOf(reason: string, buttons: string[]): Promise<void> {
    await this.#does(await window.showErrorMessage(withoutLinks(reason), ...buttons));
  }

  async #does(answer: string | undefined): Promise<void> {
    switch (answer) {
      case 'Make an Environment':
      case 'Try Again':
        return this.makeEnvironment();
      case 'Choose a Python':
        return this.#choosePython();
      case 'Restart':
        return this.restart();
      case 'Show Log':
        this.#log.show();
        return;
      case 'Never':
        return this.#context.globalState.update(DECLINED, this.#wheel().version);
    }
  }

  async #choosePython(): Promise<void> {
    const cwd = await this.#environments.emptyFolder();
    const finding = Promise.all(pythonsOnPath().map((it) => probe(it, cwd))).then((answers) => [
      ...answers.flatMap((answer) => (answer.ok ? [itemOf(answer.python)] : [])),
      { label: '$(folder-opened) Browse…', path: null },
      { label: '$(discard) Let the extension find one', path: '' },
    ]);
    const chosen = await window.showQuickPick(finding, {
      title: 'The Python (3.11 or newer) that runs the sidecar',
      matchOnDescription: true,
    });
    if (!chosen) {
      return;
    }
    let path = chosen.path;
    if (path === null) {
      const [file] = (await window.showOpenDialog({ title: 'A Python' })) ?? [];
      if (!file) {
        return;
      }
      path = file.fsPath;
    }
    // The change of the setting starts it.
    await workspace
      .getConfiguration('acp')
      .update('pythonPath', path === '' ? undefined : path, ConfigurationTarget.Global);
  }

  /** An environment would not be used while the setting names another Python. */
  async #clearSetting(reason: string): Promise<void> {
    const clear = 'Clear the Setting';
    const answer = await window.showErrorMessage(withoutLinks(reason), clear, 'Choose a Python');
    if (answer !== clear) {
      await this.#does(answer);
      return;
    }
    // The change of the setting starts it, which then offers an environment if there is none.
    this.#offered = false;
    await workspace
      .getConfiguration('acp')
      .update('pythonPath', undefined, ConfigurationTarget.Global);
  }

  #died(reason: string): void {
    this.#log.error(reason);
    if (this.#deaths.add(Date.now())) {
      void this.start();
      return;
    }
    const often = `${reason} It has ended five times in three minutes and is not started again.`;
    this.#show({ state: 'failed', reason: often });
    void this.#tellOf(often, ['Restart', 'Show Log']);
  }

  #show(view: SidecarView): void {
    this.#view = view;
    // What the walkthrough and the menus ask for.
    void commands.executeCommand('setContext', 'acp.sidecar', view.state);
    this.#changed.fire(view);
  }
}

/** `acp.pythonPath`, null where it is not set. */
function setting(): string | null {
  const path = workspace.getConfiguration('acp').get<string | null>('pythonPath')?.trim();
  return path === undefined || path === '' ? null : path;
}

function itemOf(python: Python): { label: string; description: string; path: string } {
  const version = python.version.join('.');
  const has = python.sidecar === null ? 'without the sidecar' : `sidecar ${python.sidecar}`;
  return {
    label: python.interpreter.command,
    description: `Python ${version}, ${has}`,
    path: python.executable || python.interpreter.command,
  };
}

function levelOf(level: LogLevel): string {
  switch (level) {
    case LogLevel.Trace:
    case LogLevel.Debug:
      return 'debug';
    case LogLevel.Info:
      return 'info';
    case LogLevel.Warning:
      return 'warning';
    default:
      return 'error';
  }
}
