import { dirname } from 'node:path/posix';

import {
  type Disposable,
  type Event,
  EventEmitter,
  ThemeColor,
  ThemeIcon,
  type TreeDataProvider,
  TreeItem,
  TreeItemCollapsibleState,
  type TreeView,
  Uri,
  window,
  workspace,
} from 'vscode';

import { isOnlyProposed, waitingIn } from './changes.ts';
import { changes, files } from './counts.ts';
import { pathOf } from './diffs.ts';
import { badged } from './file_badges.ts';
import { splitLines } from './markdown.ts';
import type { Review } from './review.ts';
import { oldLines, type ReviewTexts } from './texts.ts';
import {
  areOpen,
  children,
  fileDescription,
  type FileNode,
  fileNode,
  fileSpoken,
  hunkDescription,
  hunkLabel,
  type HunkNode,
  hunkSpoken,
  moreLabel,
  type Node,
  roots,
  sessionLabel,
  sessionNode,
  statusWord,
} from './tree.ts';

/** Milliseconds in which changes are drawn together: an agent may write many files at once. */
const TOGETHER = 80;

/** The view "Changes": what waits, by session, file and hunk. */
export class ChangesView implements TreeDataProvider<Node>, Disposable {
  readonly view: TreeView<Node>;
  readonly #review: Review;
  readonly #texts: ReviewTexts;
  readonly #changed = new EventEmitter<Node[] | undefined>();
  readonly #subscriptions: Disposable[];
  #timer: NodeJS.Timeout | null = null;
  /** The rows that VS Code was given, by id: it knows them by identity. */
  readonly #nodes = new Map<string, Node>();
  /** The files, by id, as they were told when they were drawn last. */
  #drawn = new Map<string, string>();
  #shape = '';

  constructor(review: Review, texts: ReviewTexts) {
    this.#review = review;
    this.#texts = texts;
    this.view = window.createTreeView<Node>('acp.changes', {
      treeDataProvider: this,
      canSelectMany: true,
      showCollapseAll: true,
    });
    this.#subscriptions = [
      this.view,
      review.onDidChange(() => this.#later()),
      // A hunk is called like its text, which the user may go on writing.
      workspace.onDidSaveTextDocument(({ uri }) => this.#renamed(uri)),
    ];
    this.#refresh();
  }

  get onDidChangeTreeData(): Event<Node[] | undefined> {
    return this.#changed.event;
  }

  getChildren(node?: Node): Node[] {
    const rows = node ? children(this.#known(node)) : roots(this.#review.sessions());
    return rows.map((row) => this.#known(row));
  }

  async getTreeItem(node: Node): Promise<TreeItem> {
    switch (node.type) {
      case 'session': {
        const item = new TreeItem(sessionLabel(node.session), TreeItemCollapsibleState.Expanded);
        item.id = node.id;
        item.iconPath = new ThemeIcon('hubot');
        item.contextValue = 'session';
        const count = waitingIn([node.session]);
        item.description = `${changes(count)} in ${files(node.session.changes.length)}`;
        return item;
      }
      case 'more': {
        const item = new TreeItem(moreLabel(node), TreeItemCollapsibleState.Collapsed);
        item.id = node.id;
        item.iconPath = new ThemeIcon('ellipsis');
        return item;
      }
      case 'file':
        return this.#fileItem(node);
      case 'hunk':
        return this.#hunkItem(node);
    }
  }

  dispose(): void {
    clearTimeout(this.#timer ?? undefined);
    for (const subscription of this.#subscriptions) {
      subscription.dispose();
    }
    this.#changed.dispose();
  }

  #fileItem(node: FileNode): TreeItem {
    const { session, change } = node;
    const path = pathOf(change.uri);
    const folder = dirname(path);
    const hasHunks = children(node).length > 0;
    const state = !hasHunks
      ? TreeItemCollapsibleState.None
      : areOpen(this.#review.sessions())
        ? TreeItemCollapsibleState.Expanded
        : TreeItemCollapsibleState.Collapsed;
    const item = new TreeItem(path.slice(path.lastIndexOf('/') + 1), state);
    item.id = node.id;
    item.resourceUri = badged(change);
    item.iconPath = ThemeIcon.File;
    item.description = fileDescription(change, folder === '.' ? '' : folder);
    item.tooltip = `${path}: ${statusWord(change)} by ${session.agent}${change.problem ? `. ${change.problem}` : ''}`;
    item.contextValue = isOnlyProposed(change) ? 'file.proposed' : 'file.waiting';
    item.accessibilityInformation = { label: fileSpoken(change, path) };
    item.command = { title: 'Compare', command: 'acp.openDiff', arguments: [node] };
    return item;
  }

  async #hunkItem({ id, file, place }: HunkNode): Promise<TreeItem> {
    const { old, now } = await this.#linesOf(file, place);
    const label = hunkLabel(place, old, now);
    const item = new TreeItem(label, TreeItemCollapsibleState.None);
    item.id = id;
    item.description = hunkDescription(place);
    item.iconPath = ICONS[place.kind];
    item.tooltip = `${label}\n${hunkDescription(place)}`;
    item.contextValue = place.proposed
      ? place.conflict
        ? 'hunk.proposed.conflict'
        : 'hunk.proposed'
      : place.conflict
        ? 'hunk.conflict'
        : 'hunk.waiting';
    item.accessibilityInformation = { label: hunkSpoken(place, label) };
    item.command = {
      title: 'Show',
      command: 'acp.showHunk',
      arguments: [{ type: 'hunk', id, file, place }],
    };
    return item;
  }

  async #linesOf(file: FileNode, place: HunkNode['place']) {
    if (place.proposed) {
      return { old: [], now: splitLines(place.text ?? '') };
    }
    const uri = Uri.parse(place.uri).toString();
    const open = workspace.textDocuments.find((document) => document.uri.toString() === uri);
    if (open && place.count > 0) {
      const last = Math.min(place.first + Math.min(place.count, 20), open.lineCount);
      const now: string[] = [];
      for (let line = place.first; line < last; line++) {
        now.push(open.lineAt(line).text);
      }
      return { old: [], now };
    }
    try {
      const texts = await this.#texts.of(place.sessionId, file.change);
      const lines = splitLines(texts.after);
      return {
        old: oldLines(place, texts),
        now: lines.slice(place.first, place.first + place.count),
      };
    } catch {
      return { old: [], now: [] };
    }
  }

  /** The object that VS Code has for a row, with what is known of it now. */
  #known(row: Node): Node {
    const known = this.#nodes.get(row.id);
    if (known) {
      return Object.assign(known, row);
    }
    this.#nodes.set(row.id, row);
    return row;
  }

  #renamed(uri: Uri): void {
    const rows = this.#review
      .of(uri)
      .map(({ session, change }) => this.#nodes.get(fileNode(session, change).id))
      .filter((row) => row !== undefined);
    if (rows.length > 0) {
      this.#changed.fire(rows);
    }
  }

  #later(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.#refresh();
    }, TOGETHER);
  }

  /** Draws the rows that are others, and all of them only where the files are others. */
  #refresh(): void {
    const sessions = this.#review.sessions();
    const nodes = sessions.flatMap((session) =>
      session.changes.map((change) => fileNode(session, change)),
    );
    const drawn = new Map(nodes.map((node) => [node.id, JSON.stringify(node.change)]));
    const shape = JSON.stringify([sessions.map(sessionLabel), [...drawn.keys()]]);
    const others = nodes.filter(({ id }) => this.#drawn.get(id) !== drawn.get(id));
    const isSameShape = shape === this.#shape;
    this.#drawn = drawn;
    this.#shape = shape;
    if (!isSameShape) {
      this.#forget(drawn);
    }
    this.#texts.prune(
      nodes.map(({ session, change }) => ({ sessionId: session.sessionId, uri: change.uri })),
    );
    const count = waitingIn(sessions);
    this.view.badge =
      count > 0 ? { value: count, tooltip: `${changes(count)} to review` } : undefined;
    this.view.description = count > 0 ? `${changes(count)}, ${files(nodes.length)}` : '';
    if (!isSameShape) {
      this.#changed.fire(undefined);
    } else if (others.length > 0) {
      // Of several sessions each says how much waits in it.
      const rows = sessions.length === 1 ? others : others.map(sessionNode);
      this.#changed.fire([...new Set(rows.map((row) => this.#known(row)))]);
    }
  }

  /** Drops the rows of files that wait no more. */
  #forget(files: ReadonlyMap<string, unknown>): void {
    for (const [id, node] of this.#nodes) {
      const file = node.type === 'hunk' ? node.file.id : node.type === 'file' ? id : null;
      if (file !== null && !files.has(file)) {
        this.#nodes.delete(id);
      }
    }
  }
}

const ICONS = {
  added: new ThemeIcon('diff-added', new ThemeColor('acp.addedMarker')),
  modified: new ThemeIcon('diff-modified', new ThemeColor('acp.modifiedMarker')),
  deleted: new ThemeIcon('diff-removed', new ThemeColor('acp.deletedMarker')),
  conflict: new ThemeIcon('warning', new ThemeColor('acp.conflictMarker')),
  proposed: new ThemeIcon('question', new ThemeColor('acp.proposedMarker')),
};
