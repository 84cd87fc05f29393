import { basename } from 'node:path';

import {
  commands,
  type Disposable,
  Range,
  StatusBarAlignment,
  type StatusBarItem,
  Uri,
  window,
  workspace,
} from 'vscode';

import { showError } from '../failure.ts';
import type { Follow as FollowState, Location } from '../protocol.ts';
import type { Session, Sessions } from '../sessions/sessions.ts';
import { inTurn } from '../sessions/status.ts';
import type { Sidecar } from '../sidecar.ts';
import { visible, withoutIcons } from '../visible.ts';

const REASONS: Readonly<Record<string, string>> = {
  outside: 'It is outside of the folders that are open.',
  missing: 'There is no such file.',
  directory: 'It is a folder.',
  special: 'It is no file that could be shown.',
  invalid: 'It is no path.',
  relative: 'It is no absolute path.',
  'not a text file': 'It is not a text.',
  waiting: 'It will be shown in a moment.',
  paused: 'You took over.',
  off: 'Following is off.',
};

/**
 * Where the agent is and whether it is followed; and the way to its conversation. That it works is
 * said by the progress that the sidecar reports, that it waits by the number of its questions.
 */
export class StatusBar implements Disposable {
  readonly #sidecar: Sidecar;
  readonly #sessions: Sessions;
  readonly #eye: StatusBarItem;
  readonly #agent: StatusBarItem;
  readonly #subscriptions: { dispose(): unknown }[];
  /** The switch, also before an agent was anywhere; null: as the settings say. */
  #switched: boolean | null = null;
  /** The session that has moved last. */
  #moved: Session | null = null;

  constructor(sidecar: Sidecar, sessions: Sessions) {
    this.#sidecar = sidecar;
    this.#sessions = sessions;
    this.#agent = window.createStatusBarItem('acp.agent', StatusBarAlignment.Left, 2);
    this.#agent.name = 'ACP: Agent';
    this.#agent.command = 'acp.openChat';
    this.#eye = window.createStatusBarItem('acp.follow', StatusBarAlignment.Left, 1);
    this.#eye.name = 'ACP: Follow';
    this.#eye.command = 'acp.toggleFollow';
    const draw = () => this.#draw();
    this.#subscriptions = [
      this.#agent,
      this.#eye,
      sessions.onDidChange(draw),
      sessions.onDidChangeFollow((session) => {
        this.#moved = session;
        this.#switched = session.follow?.enabled ?? this.#switched;
        this.#draw();
      }),
      sidecar.onDidChangeRunning(() => {
        this.#switched = null;
        this.#moved = null;
        this.#draw();
      }),
      commands.registerCommand('acp.toggleFollow', () => this.#toggle()),
      commands.registerCommand('acp.goToAgent', () => this.#goToAgent()),
    ];
    this.#draw();
  }

  /** Whether places are shown: the user's switch, whatever pauses it. */
  get #enabled(): boolean {
    return (
      this.#switched ?? workspace.getConfiguration('acp').get<boolean>('follow.enabled') ?? true
    );
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) {
      subscription.dispose();
    }
  }

  /** The session to speak of: the one that moved last, else the one that is shown. */
  get #session(): Session | null {
    const moved = this.#moved && this.#sessions.get(this.#moved.sessionId);
    return moved?.follow?.location ? moved : this.#sessions.active;
  }

  async #toggle(): Promise<void> {
    const isPaused = this.#session?.follow?.paused === true;
    try {
      const { enabled } = await this.#sidecar.command<{ enabled: boolean }>('acp.follow.set', {
        enabled: isPaused || !this.#enabled,
      });
      this.#switched = enabled;
      this.#draw();
    } catch (error) {
      await showError(error);
    }
  }

  async #goToAgent(): Promise<void> {
    const place = this.#session?.follow?.location;
    if (!place) {
      await window.showInformationMessage('No agent has been anywhere yet.');
      return;
    }
    const line = Math.max((place.line ?? 1) - 1, 0);
    try {
      await window.showTextDocument(Uri.file(place.path), {
        selection: new Range(line, 0, line, 0),
      });
    } catch {
      await window.showErrorMessage(`${visible(place.path)} cannot be opened.`);
    }
  }

  #draw(): void {
    const sessions = this.#sessions.all();
    if (!this.#sidecar.running || sessions.length === 0) {
      this.#eye.hide();
      this.#agent.hide();
      return;
    }
    this.#drawEye(this.#session);
    this.#drawAgent(sessions);
  }

  #drawEye(session: Session | null): void {
    const follow = session?.follow ?? null;
    const where = inTurn(session?.status?.status) && follow?.location ? spot(follow.location) : '';
    const isPaused = this.#enabled && follow?.paused === true;
    const [icon, words, advice] = !this.#enabled
      ? ['eye-closed', 'Not following', 'Click to follow the agent.']
      : isPaused
        ? ['eye-closed', 'Paused', 'You took over. Click to go on; your next prompt does it too.']
        : ['eye', where ? '' : 'Following', 'Click to stop following the agent.'];
    this.#eye.text = [`$(${icon})`, words, words && where ? '·' : '', withoutIcons(where)]
      .filter(Boolean)
      .join(' ');
    const lines = [isPaused || !this.#enabled ? '' : 'Following the agent.', whereabouts(session)];
    this.#eye.tooltip = [...lines, advice].filter(Boolean).join('\n');
    this.#eye.accessibilityInformation = {
      label: [words || 'Following the agent', where, where && notShown(follow), advice]
        .filter(Boolean)
        .join(', '),
      role: 'button',
    };
    this.#eye.show();
  }

  #drawAgent(sessions: readonly Session[]): void {
    const item = this.#agent;
    const busy = sessions.filter(({ status }) => inTurn(status?.status));
    if (busy.some((session) => session.status?.status === 'requires_action')) {
      item.hide();
      return;
    }
    const words =
      busy.length > 1
        ? `${busy.length} agents work`
        : withoutIcons((busy[0] ?? this.#sessions.active)?.agent ?? '');
    item.text = `$(hubot) ${words}`;
    item.tooltip = `${busy.length > 0 ? 'At work' : 'Idle'}. Show the conversation.`;
    item.accessibilityInformation = { label: `${words}. ${item.tooltip}`, role: 'button' };
    item.show();
  }
}

function spot({ path, line }: Location): string {
  return line === null ? basename(path) : `${basename(path)}:${line}`;
}

function whereabouts(session: Session | null): string {
  const follow: FollowState | null = session?.follow ?? null;
  if (!session || !follow?.location) {
    return '';
  }
  const { path, line } = follow.location;
  const where = `${session.agent} is at ${path}${line === null ? '' : `, line ${line}`}.`;
  return [where, notShown(follow)].filter(Boolean).join('\n');
}

/** Why a place is not shown, where that is not said anyway. */
function notShown(follow: FollowState | null): string {
  const reason = follow === null || follow.shown ? null : follow.reason;
  return reason === null || reason === 'paused' || reason === 'off'
    ? ''
    : `Not shown: ${REASONS[reason] ?? reason}`;
}
