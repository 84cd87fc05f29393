import {
  type Disposable,
  type TabGroup,
  type TextDocument,
  type TextDocumentChangeEvent,
  type TextEditor,
  type TextEditorSelectionChangeEvent,
  TextEditorSelectionChangeKind,
  type Uri,
  window,
  workspace,
} from 'vscode';

import type { UserActivity } from '../protocol.ts';
import { SCHEME as QUESTION } from '../questions/preview.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { inTurn } from '../sessions/status.ts';
import type { Sidecar } from '../sidecar.ts';
import { type Follow, uriOf } from './follow.ts';
import { seen } from './marks.ts';

/**
 * Tells the sidecar when the user takes over (`acp/userActivity`): what they do in the agent's
 * column. What we do there ourselves is left out, and so is what they do anywhere else.
 */
export class Activity implements Disposable {
  readonly #sidecar: Sidecar;
  readonly #sessions: Sessions;
  readonly #follow: Follow;
  readonly #subscriptions: Disposable[];
  #active: TabGroup;
  /** What was shown in the agent's column. */
  #shown: string | null = null;

  constructor(sidecar: Sidecar, sessions: Sessions, follow: Follow) {
    this.#sidecar = sidecar;
    this.#sessions = sessions;
    this.#follow = follow;
    this.#active = window.tabGroups.activeTabGroup;
    this.#subscriptions = [
      window.onDidChangeTextEditorSelection((event) => this.#selected(event)),
      window.onDidChangeTextEditorVisibleRanges(({ textEditor }) => this.#scrolled(textEditor)),
      workspace.onDidChangeTextDocument((event) => this.#edited(event)),
      window.tabGroups.onDidChangeTabs(() => this.#switched()),
      window.tabGroups.onDidChangeTabGroups(() => this.#switched()),
    ];
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) {
      subscription.dispose();
    }
  }

  #selected({ textEditor, kind, selections }: TextEditorSelectionChangeEvent): void {
    if (!this.#isAgents(textEditor)) {
      return;
    }
    const byHand =
      kind === TextEditorSelectionChangeKind.Mouse ||
      kind === TextEditorSelectionChangeKind.Keyboard;
    // A command may be "Go to Line", or our own moving of the cursor to a place.
    const byCommand =
      kind === TextEditorSelectionChangeKind.Command &&
      !this.#follow.busy &&
      textEditor === window.activeTextEditor &&
      selections[0]?.start.line !== this.#follow.place?.line;
    if (byHand || byCommand) {
      this.#took(textEditor.document, 'select');
    }
  }

  #scrolled(editor: TextEditor): void {
    const now = seen(editor);
    if (editor !== this.#follow.editor || now === null) {
      return;
    }
    if (this.#follow.busy) {
      this.#follow.scrolling.settle(now);
    } else if (this.#follow.scrolling.isUsers(now)) {
      this.#report(editor.document.uri.toString(), 'scroll');
    }
  }

  #edited({ document, contentChanges, reason }: TextDocumentChangeEvent): void {
    const editor = window.activeTextEditor;
    if (contentChanges.length === 0 || editor?.document !== document || !this.#isAgents(editor)) {
      return;
    }
    // What is loaded from the disk leaves nothing to be saved; undoing may as well.
    const isLoaded = reason === undefined && !document.isDirty;
    if (!isLoaded && !this.#sidecar.edits(document.uri.toString())) {
      this.#took(document, 'edit');
    }
  }

  #switched(): void {
    const { busy, place, group } = this.#follow;
    const [before, active] = [this.#active, window.tabGroups.activeTabGroup];
    const [shownBefore, shown] = [this.#shown, group?.activeTab ? uriOf(group.activeTab) : null];
    this.#active = active;
    this.#shown = shown;
    if (busy || place === null) {
      return;
    }
    const uri = place.uri.toString();
    if (isOfQuestion(shown) || isOfQuestion(shownBefore)) {
      // What is asked about came and went there without the user's doing.
      return;
    }
    if (shown !== shownBefore && shown !== uri) {
      this.#left(place.uri);
    } else if (active === group && before !== group && window.tabGroups.all.includes(before)) {
      // Where the user's own column was closed the agent's is active without anybody's doing.
      this.#follow.taken();
      this.#report(uri, 'switch');
    }
  }

  /** The place is no longer shown: by the user, unless its file is gone. */
  #left(uri: Uri): void {
    workspace.fs.stat(uri).then(
      () => {
        this.#follow.taken();
        this.#report(uri.toString(), 'switch');
      },
      () => undefined,
    );
  }

  #took(document: TextDocument, kind: UserActivity['kind']): void {
    if (this.#follow.group?.isActive) {
      this.#follow.taken();
    }
    this.#report(document.uri.toString(), kind);
  }

  #isAgents(editor: TextEditor): boolean {
    const group = this.#follow.group;
    return (
      editor === this.#follow.editor || (group !== null && editor.viewColumn === group.viewColumn)
    );
  }

  #report(uri: string, kind: UserActivity['kind']): void {
    const follows = this.#sessions
      .all()
      .some(({ status, follow }) => inTurn(status?.status) && follow?.enabled && !follow.paused);
    if (follows) {
      void this.#sidecar.notify('acp/userActivity', { uri, kind });
    }
  }
}

/** Whether a tab shows something of a question, by what {@link uriOf} says of it. */
function isOfQuestion(shown: string | null): boolean {
  return shown?.replace(/^diff:/, '').startsWith(`${QUESTION}:`) === true;
}
