import {
  type Disposable,
  type Event,
  EventEmitter,
  MarkdownString,
  ThemeIcon,
  type TreeDataProvider,
  TreeItem,
  TreeItemCollapsibleState,
  type TreeView,
  window,
} from 'vscode';

import { ago } from '../ago.ts';
import type { Checkpoint, CheckpointPreview } from '../protocol.ts';
import type { Session, Sessions } from '../sessions/sessions.ts';
import type { Sidecar } from '../sidecar.ts';
import { visible, withoutIcons, withoutLinks } from '../visible.ts';
import { checkpointLabel, doesNothing, outlook } from './checkpoint_text.ts';
import { pathOf } from './diffs.ts';
import { words } from './markdown.ts';
import { type Steps, told } from './steps.ts';

/** A prompt that the files can be brought back to. */
export interface CheckpointNode {
  type: 'checkpoint';
  sessionId: string;
  checkpoint: Checkpoint;
}

interface SessionNode {
  type: 'session';
  session: Session;
}

type Node = CheckpointNode | SessionNode;

/** The view "Checkpoints": the prompts of each session, the last one first. */
export class Checkpoints implements TreeDataProvider<Node>, Disposable {
  readonly #sidecar: Sidecar;
  readonly #sessions: Sessions;
  readonly #steps: Steps;
  readonly #view: TreeView<Node>;
  readonly #changed = new EventEmitter<undefined>();
  readonly #subscriptions: Disposable[];
  #seen = '';

  constructor(sidecar: Sidecar, sessions: Sessions, steps: Steps) {
    this.#sidecar = sidecar;
    this.#sessions = sessions;
    this.#steps = steps;
    this.#view = window.createTreeView<Node>('acp.checkpoints', { treeDataProvider: this });
    this.#subscriptions = [
      this.#view,
      sessions.onDidChange(() => this.#look()),
      // What was a minute ago is more now.
      this.#view.onDidChangeVisibility(() => this.#changed.fire(undefined)),
    ];
  }

  get onDidChangeTreeData(): Event<undefined> {
    return this.#changed.event;
  }

  async getChildren(node?: Node): Promise<Node[]> {
    const sessions = this.#sessions.all();
    const [only] = sessions;
    if (node) {
      return node.type === 'session' ? this.#listed(node.session.sessionId) : [];
    }
    return sessions.length === 1 && only
      ? this.#listed(only.sessionId)
      : sessions.map((session) => ({ type: 'session', session }));
  }

  getTreeItem(node: Node): TreeItem {
    if (node.type === 'session') {
      const { sessionId, agent, status } = node.session;
      const label = status?.title ? `${agent}: ${visible(status.title)}` : agent;
      const item = new TreeItem(label, TreeItemCollapsibleState.Expanded);
      item.id = sessionId;
      item.iconPath = new ThemeIcon('hubot');
      return item;
    }
    const { checkpoint, sessionId } = node;
    const label = checkpointLabel(checkpoint.label);
    const item = new TreeItem(label);
    const when = age(checkpoint);
    item.id = `${sessionId} ${checkpoint.checkpointId}`;
    item.description = when;
    item.iconPath = new ThemeIcon('history');
    item.contextValue = 'checkpoint';
    item.tooltip = new MarkdownString(
      `Before **${words(checkpoint.label)}**  \n${new Date(checkpoint.time * 1000).toLocaleString()}`,
    );
    item.accessibilityInformation = { label: `Before the prompt ${label}, ${when}` };
    return item;
  }

  /** Asks which one where none is given, says what it would do, and does it after a yes. */
  async restore(given: CheckpointNode | null): Promise<void> {
    const node = given ?? (await this.#chosen());
    if (!node) {
      return;
    }
    const { sessionId, checkpoint } = node;
    const preview = await told('Looking at the files', () =>
      this.#sidecar.command<CheckpointPreview>('acp.checkpoint.preview', {
        sessionId,
        checkpointId: checkpoint.checkpointId,
      }),
    );
    if (!preview) {
      return;
    }
    if (doesNothing(preview)) {
      const [why] = preview.problems;
      void window.showInformationMessage(
        `Nothing to restore: ${withoutLinks(why ?? 'the files are as they were then.')}`,
      );
      return;
    }
    const question = `Bring the files back to before “${checkpointLabel(checkpoint.label)}”?`;
    const answer = await window.showWarningMessage(
      question,
      { modal: true, detail: outlook(preview, pathOf) },
      'Restore',
    );
    if (answer === 'Restore') {
      await this.#steps.restore(sessionId, checkpoint.checkpointId);
    }
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) {
      subscription.dispose();
    }
    this.#changed.dispose();
  }

  async #listed(sessionId: string): Promise<CheckpointNode[]> {
    try {
      const listed = await this.#sidecar.command<Checkpoint[]>('acp.checkpoint.list', {
        sessionId,
      });
      return listed.reverse().map((checkpoint) => ({ type: 'checkpoint', sessionId, checkpoint }));
    } catch {
      // Nothing is kept (review.mode off), or the session is closed: there are none.
      return [];
    }
  }

  async #chosen(): Promise<CheckpointNode | null> {
    const lists = await Promise.all(
      this.#sessions.all().map(({ sessionId }) => this.#listed(sessionId)),
    );
    const items = lists.flat().map((node) => ({
      label: withoutIcons(checkpointLabel(node.checkpoint.label)),
      description: age(node.checkpoint),
      node,
    }));
    if (items.length === 0) {
      void window.showInformationMessage('There is no checkpoint yet: each prompt makes one.');
      return null;
    }
    const chosen = await window.showQuickPick(items, {
      title: 'Bring the files back to what they were before a prompt',
      placeHolder: 'You see what it would do before it is done',
    });
    return chosen?.node ?? null;
  }

  /** A prompt was sent, or a session opened or closed. */
  #look(): void {
    const seen = JSON.stringify(
      this.#sessions
        .all()
        .map(({ sessionId, status }) => [sessionId, status?.status, status?.title]),
    );
    if (seen !== this.#seen) {
      this.#seen = seen;
      this.#changed.fire(undefined);
    }
  }
}

function age({ time }: Checkpoint): string {
  return ago(new Date(time * 1000), new Date()) ?? '';
}
