import {
  type CancellationToken,
  commands,
  type Disposable,
  ProgressLocation,
  type TerminalOptions,
  ThemeIcon,
  window,
} from 'vscode';
import { LSPErrorCodes, ResponseError } from 'vscode-languageclient/node';

import { showError } from '../failure.ts';
import { pickAgent } from '../launch/agents.ts';
import type { OpenTerminal } from '../protocol.ts';
import type { Asking } from '../questions/asking.ts';
import type { Elicitations } from '../questions/elicitation.ts';
import type { Questions } from '../questions/questions.ts';
import type { Sidecar } from '../sidecar.ts';
import { visible } from '../visible.ts';
import { loginShell } from './login_shell.ts';

/** Logging in to an agent and out of it. Nothing that is typed for it is kept or logged. */
export class Login implements Disposable {
  readonly #sidecar: Sidecar;
  readonly #questions: Questions;
  readonly #forms: Elicitations;
  readonly #asking: Asking;
  readonly #subscriptions: { dispose(): unknown }[];

  /** Before the sidecar's first start. */
  constructor(sidecar: Sidecar, questions: Questions, forms: Elicitations, asking: Asking) {
    this.#sidecar = sidecar;
    this.#questions = questions;
    this.#forms = forms;
    this.#asking = asking;
    sidecar.onRequest<OpenTerminal, unknown>('acp/openTerminal', runInTerminal);
    this.#subscriptions = [
      commands.registerCommand('acp.login', () => this.#logIn()),
      commands.registerCommand('acp.logout', () => this.#logOut()),
    ];
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) {
      subscription.dispose();
    }
  }

  async #logIn(): Promise<void> {
    const agent = await this.#choose('Log in to an agent');
    if (agent === null) {
      return;
    }
    // Who has just asked for it is shown what it needs without a further step.
    const seen = new Set<string>();
    const show = () => {
      const asked = [...this.#questions.all(), ...this.#forms.all()].find(
        (each) => each.kind === 'login' && each.agent === agent && !seen.has(each.requestId),
      );
      if (asked) {
        seen.add(asked.requestId);
        void commands.executeCommand('acp.putQuestionAway', asked.requestId);
        void this.#asking.show(asked.requestId);
      }
    };
    const subscriptions = [this.#questions.onDidChange(show), this.#forms.onDidChange(show)];
    try {
      await this.#with(`Logging in to ${visible(agent)}`, 'acp.agent.login', agent, 'Logged in to');
    } finally {
      for (const subscription of subscriptions) {
        subscription.dispose();
      }
    }
  }

  async #logOut(): Promise<void> {
    const agent = await this.#choose('Log out of an agent');
    if (agent !== null) {
      const title = `Logging out of ${visible(agent)}`;
      await this.#with(title, 'acp.agent.logout', agent, 'Logged out of');
    }
  }

  async #with(title: string, command: string, agent: string, done: string): Promise<void> {
    const location = ProgressLocation.Notification;
    try {
      await window.withProgress({ location, title, cancellable: true }, (_progress, token) =>
        this.#sidecar.command(command, { agent }, token),
      );
      void window.showInformationMessage(`${done} ${visible(agent)}.`);
    } catch (error) {
      if (!(error instanceof ResponseError && error.code === LSPErrorCodes.RequestCancelled)) {
        void showError(error);
      }
    }
  }

  async #choose(title: string): Promise<string | null> {
    return pickAgent(this.#sidecar, title, ({ problem }) => !problem);
  }
}

/** `acp/openTerminal`: runs the command where the user can type, until it has ended. */
function runInTerminal(
  params: OpenTerminal,
  token: CancellationToken,
): Promise<{ exitCode: number } | null> {
  const { shellPath, shellArgs } = loginShell(params.command, params.args, process.platform);
  const options: TerminalOptions = {
    name: visible(params.title),
    shellPath,
    shellArgs,
    env: params.env,
    iconPath: new ThemeIcon('key'),
    isTransient: true,
    ...(params.cwd === null ? {} : { cwd: params.cwd }),
  };
  const terminal = window.createTerminal(options);
  terminal.show();
  return new Promise((resolve) => {
    const done = (answer: { exitCode: number } | null) => {
      closed.dispose();
      cancelled.dispose();
      resolve(answer);
    };
    const closed = window.onDidCloseTerminal((each) => {
      if (each === terminal) {
        const exitCode = each.exitStatus?.code;
        done(exitCode === undefined ? null : { exitCode });
      }
    });
    const cancelled = token.onCancellationRequested(() => {
      done(null);
      terminal.dispose();
    });
  });
}
