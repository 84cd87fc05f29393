import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

import { commands, type Disposable, type OutputChannel, ProgressLocation, window } from 'vscode';

import type { Sidecar } from '../sidecar.ts';
import { pickAgent } from './agents.ts';
import type { Launch } from './launch.ts';
import { killTree, TREE } from './process_tree.ts';

/** What the doctor needs. */
export interface DoctorParts {
  sidecar: Sidecar;
  launch: () => Launch | null;
  /** The user's settings, as `initializationOptions` has them. */
  settings: () => object;
}

/** `ACP: Doctor`: starts an agent, and shows what it says of itself and what is wrong. */
export class Doctor implements Disposable {
  readonly #parts: DoctorParts;
  readonly #command: Disposable;
  #channel: OutputChannel | null = null;

  constructor(parts: DoctorParts) {
    this.#parts = parts;
    this.#command = commands.registerCommand('acp.doctor', (agent: unknown) =>
      this.#run(typeof agent === 'string' ? agent : null),
    );
  }

  dispose(): void {
    this.#command.dispose();
    this.#channel?.dispose();
  }

  async #run(named: string | null): Promise<void> {
    const launch = this.#parts.launch();
    if (!launch) {
      void window.showWarningMessage(
        'The doctor needs the sidecar, and no Python that has it was found yet. "ACP: Make an Environment for the Sidecar" installs it.',
      );
      return;
    }
    // Where the sidecar does not run, the default agent is looked at.
    const agent =
      named ??
      (this.#parts.sidecar.running
        ? await pickAgent(this.#parts.sidecar, 'The agent to look at: it is started and ended')
        : '');
    if (agent === null) {
      return;
    }
    this.#channel ??= window.createOutputChannel('ACP Doctor');
    const channel = this.#channel;
    channel.clear();
    channel.show(true);
    const title = `ACP: looking at ${agent || 'the default agent'}…`;
    const code = await window.withProgress(
      { location: ProgressLocation.Notification, title, cancellable: true },
      async (_, token) => {
        const child = this.#start(launch, agent, channel);
        token.onCancellationRequested(() => killTree(child));
        return new Promise<number | null>((resolve) => {
          child.on('error', (error) => {
            channel.appendLine(error.message);
            resolve(1);
          });
          child.on('close', resolve);
        });
      },
    );
    channel.appendLine('');
    channel.appendLine(
      code === 0
        ? 'It can be used.'
        : code === null
          ? 'Cancelled.'
          : 'It cannot be used as it is: see above.',
    );
  }

  #start(launch: Launch, agent: string, channel: OutputChannel): ChildProcess {
    const { command, args } = launch;
    const all = [...args, 'doctor', ...(agent ? [agent] : []), '--settings', '-'];
    channel.appendLine(`acp-sidecar doctor ${agent}`.trim());
    channel.appendLine('');
    const child = spawn(command, all, {
      env: { ...process.env, PYTHONUTF8: '1', PYTHONUNBUFFERED: '1' },
      stdio: ['pipe', 'pipe', 'pipe'],
      ...TREE,
    });
    child.stdin.on('error', () => undefined);
    child.stdin.end(JSON.stringify(this.#parts.settings()));
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => channel.appendLine(line));
    }
    return child;
  }
}
