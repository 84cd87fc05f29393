import {
  type Disposable,
  type QuickInputButton,
  type QuickPickItem,
  QuickPickItemKind,
  ThemeIcon,
  window,
} from 'vscode';

import { ago } from '../ago.ts';
import { showError } from '../failure.ts';
import type { EarlierSession, OpenedSession } from '../protocol.ts';
import type { Session } from '../sessions/sessions.ts';
import { rowText, visible } from '../visible.ts';
import type { ChatParts } from './sources.ts';
import { folder } from './starting.ts';

interface Page {
  sessions: EarlierSession[];
  nextCursor: string | null;
}

interface Row extends QuickPickItem {
  earlier?: EarlierSession;
  more?: string;
}

const DELETE: QuickInputButton = {
  iconPath: new ThemeIcon('trash'),
  tooltip: 'Delete the session for good',
};

/** Takes the prompts of a session that were never sent, to show them to the user. */
type PutBack = (session: Session, unsent: NonNullable<OpenedSession['unsent']>) => void;

/**
 * Shows an agent's earlier sessions, page by page, and opens the chosen one.
 *
 * @param putBack What becomes of the prompts that were waiting when it was cut off.
 */
export async function showHistory(parts: ChatParts, putBack: PutBack): Promise<void> {
  const agent = await chooseAgent(parts, 'The agent whose sessions are shown');
  if (agent === null) {
    return;
  }
  const cwd = await folder();
  if (cwd !== null) {
    new History(parts, agent, cwd, putBack).show();
  }
}

/**
 * The agent of what is to be done, null where the user has chosen none. The one of the shown
 * session comes first.
 */
export async function chooseAgent(
  { agents, sessions }: Pick<ChatParts, 'agents' | 'sessions'>,
  placeHolder: string,
): Promise<string | null> {
  const names = agents.names();
  if (names.length <= 1) {
    return names[0] ?? sessions.active?.agent ?? null;
  }
  const first = sessions.active?.agent;
  const sorted = first && names.includes(first) ? [...new Set([first, ...names])] : names;
  const rows = sorted.map((name) => ({ label: rowText(name), name }));
  return (await window.showQuickPick(rows, { placeHolder }))?.name ?? null;
}

class History {
  readonly #parts: ChatParts;
  readonly #agent: string;
  readonly #cwd: string;
  readonly #putBack: PutBack;
  readonly #pick = window.createQuickPick<Row>();
  readonly #subscriptions: Disposable[];
  #earlier: EarlierSession[] = [];
  #cursor: string | null = null;
  #open = true;

  constructor(parts: ChatParts, agent: string, cwd: string, putBack: PutBack) {
    this.#parts = parts;
    this.#agent = agent;
    this.#cwd = cwd;
    this.#putBack = putBack;
    this.#pick.title = `Earlier sessions with ${agent}`;
    this.#pick.placeholder = 'Looking for sessions…';
    this.#pick.matchOnDescription = true;
    this.#pick.matchOnDetail = true;
    this.#subscriptions = [
      this.#pick.onDidAccept(() => void this.#accept()),
      this.#pick.onDidTriggerItemButton(({ item }) => void this.#delete(item)),
      this.#pick.onDidHide(() => this.#dispose()),
    ];
  }

  show(): void {
    this.#pick.show();
    void this.#more();
  }

  async #more(): Promise<void> {
    this.#pick.busy = true;
    try {
      const page = await this.#parts.sidecar.command<Page>('acp.session.list', {
        agent: this.#agent,
        cwd: this.#cwd,
        ...(this.#cursor === null ? {} : { cursor: this.#cursor }),
      });
      this.#earlier = [...this.#earlier, ...page.sessions];
      this.#cursor = page.nextCursor;
      this.#draw();
    } catch (error) {
      this.#pick.hide();
      await showError(error);
    } finally {
      this.#pick.busy = false;
    }
  }

  #draw(): void {
    if (!this.#open) {
      return;
    }
    const opened = new Set(
      this.#parts.sessions
        .all()
        .filter((session) => session.agent === this.#agent)
        .map((session) => session.agentSessionId),
    );
    const rows: Row[] = this.#earlier.map((earlier) => {
      const isOpen = opened.has(earlier.agentSessionId);
      const time = earlier.updatedAt ? ago(new Date(earlier.updatedAt), new Date()) : null;
      return {
        label: `$(${isOpen ? 'comment-discussion' : 'comment'}) ${plain(earlier.title)}`,
        description: [isOpen ? 'open' : null, time].filter(Boolean).join(' · '),
        detail: earlier.cwd === this.#cwd ? undefined : rowText(earlier.cwd),
        buttons: earlier.deletable && !isOpen ? [DELETE] : [],
        earlier,
      } as Row;
    });
    if (this.#cursor !== null) {
      rows.push(
        { label: '', kind: QuickPickItemKind.Separator },
        { label: '$(ellipsis) More…', alwaysShow: true, more: this.#cursor },
      );
    }
    this.#pick.placeholder =
      rows.length > 0 ? 'The session to open' : 'There are no earlier sessions.';
    this.#pick.items = rows;
  }

  async #accept(): Promise<void> {
    const chosen = this.#pick.selectedItems[0];
    if (chosen?.more) {
      await this.#more();
    } else if (chosen?.earlier) {
      this.#pick.hide();
      await this.#load(chosen.earlier);
    }
  }

  async #load({ agentSessionId, cwd, title }: EarlierSession): Promise<void> {
    const { sessions, sidecar } = this.#parts;
    const already = sessions
      .all()
      .find((it) => it.agent === this.#agent && it.agentSessionId === agentSessionId);
    if (already) {
      sessions.select(already.sessionId);
      return;
    }
    const where = cwd || this.#cwd;
    try {
      const opened = await window.withProgress(
        { location: { viewId: 'acp.chat' }, title: `Opening ${visible(title ?? 'a session')}` },
        () =>
          sidecar.command<OpenedSession>('acp.session.load', {
            agent: this.#agent,
            agentSessionId,
            cwd: where,
          }),
      );
      const session = sessions.opened(opened, where);
      this.#putBack(session, opened.unsent ?? []);
    } catch (error) {
      await showError(error);
    }
  }

  async #delete({ earlier }: Row): Promise<void> {
    if (!earlier) {
      return;
    }
    const yes = 'Delete';
    this.#pick.ignoreFocusOut = true;
    const chosen = await window.showWarningMessage(
      `Delete “${visible(earlier.title ?? 'this session')}” for good?`,
      { modal: true },
      yes,
    );
    this.#pick.ignoreFocusOut = false;
    if (chosen !== yes) {
      return;
    }
    try {
      await this.#parts.sidecar.command('acp.session.delete', {
        agent: this.#agent,
        agentSessionId: earlier.agentSessionId,
        cwd: earlier.cwd || this.#cwd,
      });
      this.#earlier = this.#earlier.filter((it) => it !== earlier);
      this.#draw();
    } catch (error) {
      await showError(error);
    }
  }

  #dispose(): void {
    this.#open = false;
    for (const subscription of this.#subscriptions) {
      subscription.dispose();
    }
    this.#pick.dispose();
  }
}

/** A title without what a QuickPick would draw as an icon. */
function plain(title: string | null): string {
  return rowText((title ?? 'Without a title').replace(/\s+/gu, ' '));
}
