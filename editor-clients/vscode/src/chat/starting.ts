import { dirname } from 'node:path';

import {
  CancellationTokenSource,
  type Disposable,
  type Event,
  EventEmitter,
  window,
  workspace,
} from 'vscode';

import type { OpenedSession } from '../protocol.ts';
import type { Session, Sessions } from '../sessions/sessions.ts';
import type { Sidecar } from '../sidecar.ts';
import { rowText } from '../visible.ts';
import type { AgentNames } from './sources.ts';

/** Starts sessions, one at a time. */
export class Starting implements Disposable {
  readonly #sidecar: Sidecar;
  readonly #sessions: Sessions;
  readonly #agents: AgentNames;
  readonly #changed = new EventEmitter<undefined>();
  #agent: string | null = null;
  #cancel: CancellationTokenSource | null = null;
  #started: Promise<Session | null> | null = null;
  /** The agent that was asked for, null for the default one. */
  #asked: string | null = null;

  constructor(sidecar: Sidecar, sessions: Sessions, agents: AgentNames) {
    this.#sidecar = sidecar;
    this.#sessions = sessions;
    this.#agents = agents;
  }

  get onDidChange(): Event<undefined> {
    return this.#changed.event;
  }

  /** The agent that is being started, or null. */
  get agent(): string | null {
    return this.#agent;
  }

  /**
   * Starts a session in a folder of the workspace; with several the user is asked which. Asked
   * twice for the same agent it starts one.
   *
   * @returns null where the user has chosen none or does not wait for it any more
   * @throws the sidecar's error
   */
  async start(agent: string | null): Promise<Session | null> {
    while (this.#started !== null && this.#asked !== agent) {
      // Of another agent: whoever waits for that is told what comes of it.
      await this.#started.catch(() => null);
    }
    this.#asked = agent;
    this.#started ??= this.#start(agent).finally(() => {
      this.#started = null;
    });
    return this.#started;
  }

  cancel(): void {
    this.#cancel?.cancel();
  }

  dispose(): void {
    this.cancel();
    this.#changed.dispose();
  }

  async #start(agent: string | null): Promise<Session | null> {
    const cwd = await folder();
    if (cwd === null) {
      return null;
    }
    const cancel = new CancellationTokenSource();
    this.#cancel = cancel;
    this.#set(agent ?? this.#agents.names()[0] ?? 'the agent');
    try {
      const opened = await window.withProgress({ location: { viewId: 'acp.chat' } }, () =>
        this.#sidecar.command<OpenedSession>(
          'acp.session.new',
          { ...(agent ? { agent } : {}), cwd },
          cancel.token,
        ),
      );
      return this.#sessions.opened(opened, cwd);
    } catch (error) {
      if (cancel.token.isCancellationRequested) {
        return null;
      }
      throw error;
    } finally {
      this.#cancel = null;
      cancel.dispose();
      this.#set(null);
    }
  }

  #set(agent: string | null): void {
    this.#agent = agent;
    this.#changed.fire(undefined);
  }
}

/** The folder to work in, or null where there is none or none was chosen. */
export async function folder(): Promise<string | null> {
  const folders = (workspace.workspaceFolders ?? []).map(({ name, uri }) => ({
    label: rowText(name),
    description: rowText(dirname(uri.fsPath)),
    path: uri.fsPath,
  }));
  const chosen =
    folders.length > 1
      ? await window.showQuickPick(folders, {
          placeHolder: 'The folder the agent works in',
          matchOnDescription: true,
          // A chat that is opened for it takes the focus when it has come: VS Code's own list of
          // folders would be closed by that.
          ignoreFocusOut: true,
        })
      : folders[0];
  return chosen?.path ?? null;
}
