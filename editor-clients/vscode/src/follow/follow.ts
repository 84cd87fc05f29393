import {
  commands,
  type Disposable,
  FileType,
  Range,
  type Tab,
  type TabGroup,
  TabInputText,
  TabInputTextDiff,
  type TextDocument,
  type TextEditor,
  TextEditorRevealType,
  Uri,
  ViewColumn,
  window,
  workspace,
} from 'vscode';

import { messageOf } from '../failure.ts';
import type { Reveal, Revealed } from '../protocol.ts';
import type { Session, Sessions } from '../sessions/sessions.ts';
import { inTurn } from '../sessions/status.ts';
import type { Sidecar } from '../sidecar.ts';
import { columnFor } from './columns.ts';
import { type Marks, seen } from './marks.ts';
import { Scrolling } from './scrolling.ts';

/** A place to show: `line` counts from 0. */
export interface Place {
  sessionId: string;
  uri: Uri;
  line: number | null;
  kind: string | null;
}

/**
 * Shows where the agent works (`acp/reveal`) in a column beside the user's. There is one such
 * column; the focus never goes there by itself.
 */
export class Follow implements Disposable {
  readonly #sessions: Sessions;
  readonly #marks: Marks;
  readonly #chatHasFocus: () => boolean;
  readonly #subscriptions: { dispose(): unknown }[];
  /** What can be seen of the place that was shown last. */
  readonly scrolling = new Scrolling();
  #group: TabGroup | null = null;
  #editor: TextEditor | null = null;
  #place: Place | null = null;
  readonly #earlier = new Set<TabGroup>();
  /** A tab that is there only since a place was shown in it. */
  #opened: { group: TabGroup; uri: string } | null = null;
  #showing: Promise<unknown> = Promise.resolve();
  #busy = 0;

  /** Before the sidecar's first start. */
  constructor(sidecar: Sidecar, sessions: Sessions, marks: Marks, chatHasFocus: () => boolean) {
    this.#sessions = sessions;
    this.#marks = marks;
    this.#chatHasFocus = chatHasFocus;
    sidecar.onRequest<Reveal, Revealed>('acp/reveal', (reveal) =>
      this.show({
        sessionId: reveal.sessionId,
        uri: Uri.parse(reveal.uri),
        line: reveal.selection?.start.line ?? null,
        kind: reveal.kind,
      }),
    );
    this.#subscriptions = [
      sessions.onDidChange(() => this.#forgetIdle()),
      sessions.onDidChangeFollow((session) => this.#moved(session)),
      sidecar.onDidChangeRunning((running) => {
        if (!running) {
          this.#marks.keep(new Set());
        }
      }),
      workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.length > 0 && document === this.#editor?.document) {
          // Lines that come in above move what can be seen.
          void this.quietly(() => Promise.resolve());
        }
      }),
    ];
  }

  /** The column in which places are shown, null before the first and after its end. */
  get group(): TabGroup | null {
    const group = this.#group;
    if (group && !window.tabGroups.all.includes(group)) {
      // Older versions of VS Code make the groups anew when one of them comes or goes.
      const editor = this.#editor;
      const isThere = editor !== null && window.visibleTextEditors.includes(editor);
      this.#group = isThere ? groupAt(editor.viewColumn) : null;
    }
    return this.#group;
  }

  /** The editor in which the last place was shown. */
  get editor(): TextEditor | null {
    return this.#editor;
  }

  get place(): Place | null {
    return this.#place;
  }

  /** Whether what changes on the screen now is our own doing. */
  get busy(): boolean {
    return this.#busy > 0;
  }

  /** Does something with editors that is not to count as the user's. */
  async quietly<T>(act: () => Promise<T>): Promise<T> {
    this.#busy += 1;
    try {
      return await act();
    } finally {
      // An answer from VS Code's main part, behind all that it had to tell before.
      await commands.executeCommand('setContext', 'acp.follows', this.#place !== null);
      this.scrolling.settle(this.#editor && seen(this.#editor));
      this.#busy -= 1;
    }
  }

  /** Shows a place, after those that were asked for before it. */
  async show(place: Place): Promise<Revealed> {
    const turn = this.#showing.then(() => this.#show(place));
    this.#showing = turn;
    return turn;
  }

  /** The user went into the agent's column: it is theirs until they leave. */
  taken(): void {
    const group = this.group;
    if (group) {
      this.#earlier.add(group);
    }
    this.#opened = null;
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) {
      subscription.dispose();
    }
  }

  async #show(place: Place): Promise<Revealed> {
    let document: TextDocument;
    try {
      const { type } = await workspace.fs.stat(place.uri);
      if ((type & FileType.Directory) !== 0) {
        return { shown: false, reason: 'directory' };
      }
    } catch {
      return { shown: false, reason: 'missing' };
    }
    try {
      document = await workspace.openTextDocument(place.uri);
    } catch {
      // VS Code's own words are about a model that could not be resolved.
      return { shown: false, reason: 'not a text file' };
    }
    try {
      await this.quietly(() => this.#put(place, document));
    } catch (error) {
      return { shown: false, reason: messageOf(error) };
    }
    return { shown: true };
  }

  async #put(place: Place, document: TextDocument): Promise<void> {
    const uri = document.uri.toString();
    const line = place.line === null ? null : Math.min(place.line, document.lineCount - 1);
    const range = line === null ? null : new Range(line, 0, line, 0);
    // eslint-disable-next-line @typescript-eslint/no-unsafe-enum-assignment -- VS Code names nine
    const column: ViewColumn = this.#column(uri);
    const before = groupAt(column);
    const isOwn = before === null || before === this.group || column === ViewColumn.Beside;
    const wasThere = before?.tabs.some((tab) => uriOf(tab) === uri) === true;
    const editor = await window.showTextDocument(document, {
      viewColumn: column,
      preserveFocus: true,
      preview: true,
      // In a column of the user's their cursor stays where it is.
      ...(range && isOwn ? { selection: range } : {}),
    });
    const group = groupAt(editor.viewColumn);
    if (isOwn || this.group === null) {
      this.#group = group;
    }
    this.#editor = editor;
    this.#place = place;
    if (range) {
      editor.revealRange(range, TextEditorRevealType.InCenter);
    }
    this.scrolling.revealed(scrollsSmoothly() ? line : null);
    const agent = this.#sessions.get(place.sessionId)?.agent ?? '';
    this.#marks.put(place.sessionId, { uri, line, agent, kind: place.kind });
    if (group) {
      await this.#tidy(group, uri, wasThere);
    }
  }

  #column(uri: string): number {
    const group = this.group;
    const earlier = window.tabGroups.all.filter((each) => this.#earlier.has(each));
    return columnFor(uri, {
      columns: window.tabGroups.all.map((each) => ({
        column: each.viewColumn,
        active: each.isActive,
        empty: each.tabs.length === 0,
        shows: each.activeTab ? uriOf(each.activeTab) : null,
      })),
      agents: group?.viewColumn ?? null,
      earlier: earlier.map((each) => each.viewColumn),
      chatHasFocus: this.#chatHasFocus(),
    });
  }

  /** Without previews each place would leave a tab behind. */
  async #tidy(group: TabGroup, uri: string, wasThere: boolean): Promise<void> {
    const last = this.#opened;
    if (last?.group === group && last.uri !== uri) {
      const tab = group.tabs.find((each) => uriOf(each) === last.uri);
      if (tab && !tab.isDirty && !tab.isPinned && !tab.isActive && !previews()) {
        await window.tabGroups.close(tab, true);
      }
      this.#opened = null;
    }
    if (!wasThere) {
      this.#opened = { group, uri };
    }
  }

  /** The agent is where it is not shown: no line may say that it is there. */
  #moved(session: Session): void {
    const follow = session.follow;
    // A place that took long to show counts as not shown there, and is shown all the same.
    const isHere =
      this.#place?.sessionId === session.sessionId &&
      this.#place.uri.fsPath === follow?.location?.path;
    if (!follow?.enabled || (!follow.shown && follow.reason !== 'waiting' && !isHere)) {
      this.#marks.remove(session.sessionId);
    }
  }

  #forgetIdle(): void {
    this.#marks.keep(
      new Set(
        this.#sessions
          .all()
          .filter(({ status }) => inTurn(status?.status))
          .map((each) => each.sessionId),
      ),
    );
  }
}

/** The URI of the text in a tab, null for what is no text. */
export function uriOf(tab: Tab): string | null {
  const input = tab.input;
  if (input instanceof TabInputText) {
    return input.uri.toString();
  }
  return input instanceof TabInputTextDiff ? `diff:${input.modified.toString()}` : null;
}

function groupAt(column: number | undefined): TabGroup | null {
  return window.tabGroups.all.find((group) => group.viewColumn === column) ?? null;
}

function scrollsSmoothly(): boolean {
  return workspace.getConfiguration('editor').get('smoothScrolling', false);
}

function previews(): boolean {
  return workspace.getConfiguration('workbench.editor').get('enablePreview', true);
}
