import {
  commands,
  type Disposable,
  EventEmitter,
  type Pseudoterminal,
  type Terminal as Window,
  ThemeIcon,
  window,
} from 'vscode';

import { showError } from '../failure.ts';
import type { TerminalUpdate } from '../protocol.ts';
import type { Sidecar } from '../sidecar.ts';
import { rowText, shortened, visible, withoutIcons } from '../visible.ts';
import { continuation, howItEnded, toTerminal } from './mirror.ts';

const CLEAR = '\x1b[2J\x1b[3J\x1b[H';
const DIM = '\x1b[2m';
const PLAIN = '\x1b[0m';

interface Named {
  sessionId: string;
  terminalId: string;
}

/** The commands of agents: which there are, and a terminal that shows what one writes. */
export class Terminals implements Disposable {
  readonly #sidecar: Sidecar;
  readonly #known = new Map<string, TerminalUpdate>();
  readonly #open = new Map<string, { mirror: Mirror; shown: Window }>();
  readonly #subscriptions: { dispose(): unknown }[];

  /** Before the sidecar's first start. */
  constructor(sidecar: Sidecar) {
    this.#sidecar = sidecar;
    sidecar.onNotification<TerminalUpdate>('acp/terminal', (terminal) => {
      this.#known.set(key(terminal), terminal);
      this.#open.get(key(terminal))?.mirror.update(terminal);
    });
    this.#subscriptions = [
      sidecar.onDidChangeRunning(() => {
        this.#known.clear();
        for (const { mirror } of this.#open.values()) {
          mirror.gone();
        }
        this.#open.clear();
      }),
      window.onDidCloseTerminal((closed) => {
        for (const [name, { shown }] of this.#open) {
          if (shown === closed) {
            this.#open.delete(name);
          }
        }
      }),
      commands.registerCommand('acp.showTerminal', async () => {
        const chosen = await this.#choose(
          'Show what a command writes',
          () => true,
          'No agent has run a command yet.',
        );
        if (chosen) {
          await this.open(chosen.sessionId, chosen.terminalId);
        }
      }),
      commands.registerCommand('acp.killTerminal', async () => {
        const chosen =
          this.#active() ??
          (await this.#choose(
            'Kill a command and all it has started',
            isRunning,
            'No command of an agent runs.',
          ));
        if (chosen) {
          await this.kill(chosen.sessionId, chosen.terminalId);
        }
      }),
    ];
  }

  /** Shows what a command writes, from its beginning on. Closing it ends nothing. */
  async open(sessionId: string, terminalId: string): Promise<void> {
    const named = { sessionId, terminalId };
    const already = this.#open.get(key(named));
    if (already) {
      already.shown.show(true);
      return;
    }
    try {
      const mirror = new Mirror(await this.#output(named), () => this.#output(named));
      const shown = window.createTerminal({
        name: mirror.name,
        pty: mirror,
        iconPath: new ThemeIcon('robot'),
        isTransient: true,
      });
      this.#open.set(key(named), { mirror, shown });
      shown.show(true);
    } catch (error) {
      void showError(error);
    }
  }

  /** Ends a command and all it has started. */
  async kill(sessionId: string, terminalId: string): Promise<void> {
    try {
      await this.#sidecar.command('acp.terminal.kill', { sessionId, terminalId });
    } catch (error) {
      void showError(error);
    }
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) {
      subscription.dispose();
    }
    for (const { shown } of this.#open.values()) {
      shown.dispose();
    }
  }

  async #output({ sessionId, terminalId }: Named): Promise<TerminalUpdate> {
    return this.#sidecar.command('acp.terminal.output', { sessionId, terminalId });
  }

  /** The command that runs in the terminal the user looks at. */
  #active(): TerminalUpdate | null {
    for (const [name, { shown }] of this.#open) {
      const terminal = this.#known.get(name);
      if (shown === window.activeTerminal && terminal && isRunning(terminal)) {
        return terminal;
      }
    }
    return null;
  }

  async #choose(
    title: string,
    isOffered: (terminal: TerminalUpdate) => boolean,
    none: string,
  ): Promise<TerminalUpdate | null> {
    const offered = [...this.#known.values()].filter(isOffered).reverse();
    if (offered.length === 0) {
      void window.showInformationMessage(none);
      return null;
    }
    const rows = offered.map((terminal) => ({
      label: withoutIcons(nameOf(terminal)),
      description: rowText(terminal.cwd ?? ''),
      terminal,
    }));
    const chosen = await window.showQuickPick(rows, { title });
    return chosen?.terminal ?? null;
  }
}

/** A terminal that shows the output of a command and takes no input. */
class Mirror implements Pseudoterminal {
  readonly #written = new EventEmitter<string>();
  readonly #renamed = new EventEmitter<string>();
  readonly onDidWrite = this.#written.event;
  readonly onDidChangeName = this.#renamed.event;
  readonly #all: () => Promise<TerminalUpdate>;
  #terminal: TerminalUpdate;
  /** What was last written of it; null before it is open. */
  #shown: string | null = null;
  #hinted = false;
  #drawing = false;

  constructor(terminal: TerminalUpdate, all: () => Promise<TerminalUpdate>) {
    this.#terminal = terminal;
    this.#all = all;
  }

  get name(): string {
    return nameOf(this.#terminal);
  }

  open(): void {
    void this.#draw(this.#terminal);
  }

  close(): void {
    this.#shown = null;
  }

  handleInput(): void {
    if (!this.#hinted && isRunning(this.#terminal)) {
      this.#hinted = true;
      this.#written.fire(
        `\r\n${DIM}Only the agent's command writes here. "ACP: Kill a Command of the Agent…" ends it.${PLAIN}\r\n`,
      );
    }
  }

  /** It has written more, or has ended. */
  update(terminal: TerminalUpdate): void {
    const hadEnded = !isRunning(this.#terminal);
    this.#terminal = terminal;
    if (this.#shown === null || this.#drawing) {
      return;
    }
    const more = continuation(this.#shown, terminal.output);
    if (more === null) {
      void this.#redraw();
      return;
    }
    this.#shown = terminal.output;
    this.#written.fire(toTerminal(more));
    if (!hadEnded) {
      this.#sayEnd();
    }
  }

  /** Nothing more will come. */
  gone(): void {
    if (this.#shown !== null && isRunning(this.#terminal)) {
      this.#written.fire(`\r\n${DIM}The sidecar has ended.${PLAIN}\r\n`);
    }
  }

  /** A line was written over, or more has come than one message tells. */
  async #redraw(): Promise<void> {
    this.#drawing = true;
    try {
      this.#terminal = await this.#all();
    } catch {
      // It is gone: what was last told of it is all there is.
    } finally {
      this.#drawing = false;
    }
    await this.#draw(this.#terminal);
  }

  async #draw(terminal: TerminalUpdate): Promise<void> {
    const cut = terminal.truncated ? `${DIM}Earlier output was left out.${PLAIN}\r\n` : '';
    const text = `${CLEAR}${cut}${toTerminal(terminal.output)}`;
    // It is told at once only when the terminal is ready for it.
    await Promise.resolve();
    this.#shown = terminal.output;
    this.#written.fire(text);
    this.#sayEnd();
  }

  #sayEnd(): void {
    const status = this.#terminal.exitStatus;
    if (status) {
      this.#written.fire(`\r\n${DIM}The command ${howItEnded(status)}.${PLAIN}\r\n`);
      this.#renamed.fire(this.name);
    }
  }
}

function key({ sessionId, terminalId }: Named): string {
  return `${sessionId}\0${terminalId}`;
}

function isRunning({ exitStatus }: TerminalUpdate): boolean {
  return exitStatus === null;
}

function nameOf({ command, exitStatus }: TerminalUpdate): string {
  const name = shortened(visible(command ?? 'A command of the agent'), 40);
  if (!exitStatus) {
    return name;
  }
  const { exitCode, signal } = exitStatus;
  return exitCode === 0
    ? `✓ ${name}`
    : `✗ ${name} (${exitCode ?? shortened(visible(signal ?? 'ended'), 20)})`;
}
