import { isAbsolute, join, normalize } from 'node:path';

import {
  commands,
  type Disposable,
  FileType,
  Selection,
  type TextDocumentContentProvider,
  Uri,
  ViewColumn,
  window,
  workspace,
} from 'vscode';

import type { Session, Sessions } from '../sessions/sessions.ts';
import { visible } from '../visible.ts';

const SCHEME = 'acp-tool-call';

/** Opens what the chat links to: in the group of editors the user works in. */
export class Opening implements TextDocumentContentProvider, Disposable {
  readonly #sessions: Sessions;
  readonly #registration: Disposable;

  constructor(sessions: Sessions) {
    this.#sessions = sessions;
    this.#registration = workspace.registerTextDocumentContentProvider(SCHEME, this);
  }

  /** @param line counted from 1 */
  async path(session: Session, path: string, line: number | null): Promise<void> {
    const uri = Uri.file(absolute(path, session.cwd));
    const found = await workspace.fs.stat(uri).then(
      (stat) => stat,
      () => null,
    );
    if (found === null) {
      void window.showWarningMessage(`There is no ${visible(uri.fsPath)}.`);
    } else if (found.type & FileType.Directory) {
      await commands.executeCommand('revealInExplorer', uri);
    } else if (!(found.type & FileType.File)) {
      // VS Code would read a device or a pipe without an end.
      void window.showWarningMessage(`${visible(uri.fsPath)} is not a regular file.`);
    } else {
      const row = Math.max((line ?? 1) - 1, 0);
      const at = line === null ? undefined : new Selection(row, 0, row, 0);
      await commands.executeCommand('vscode.open', uri, {
        viewColumn: ViewColumn.Active,
        preview: true,
        ...(at ? { selection: at } : {}),
      });
    }
  }

  /** The two texts of a tool call's diff, side by side; the file's review where it has none. */
  async diff(session: Session, toolCallId: string, index: number): Promise<void> {
    const item = diffOf(session, toolCallId, index);
    const path = item?.path ?? item?.changes?.[0]?.path;
    if (!item || !path) {
      return;
    }
    const file = Uri.file(absolute(path, session.cwd));
    if (item.newText === undefined) {
      await commands.executeCommand('acp.openDiff', file);
      return;
    }
    const side = (name: 'old' | 'new') =>
      file.with({
        scheme: SCHEME,
        query: JSON.stringify({ sessionId: session.sessionId, toolCallId, index, side: name }),
      });
    const name = file.path.split('/').at(-1) ?? path;
    await commands.executeCommand(
      'vscode.diff',
      side('old'),
      side('new'),
      `${visible(name)} (${visible(session.agent)}'s edit)`,
      { viewColumn: ViewColumn.Active, preview: true },
    );
  }

  provideTextDocumentContent(uri: Uri): string {
    const asked = JSON.parse(uri.query) as Record<string, unknown>;
    const session = this.#sessions.get(String(asked.sessionId));
    const item = session && diffOf(session, String(asked.toolCallId), Number(asked.index));
    return (asked.side === 'old' ? item?.oldText : item?.newText) ?? '';
  }

  dispose(): void {
    this.#registration.dispose();
  }
}

function absolute(path: string, cwd: string): string {
  return normalize(isAbsolute(path) ? path : join(cwd, path));
}

function diffOf(session: Session, toolCallId: string, index: number) {
  for (const block of session.blocks.values()) {
    if (block.kind === 'toolCall' && block.toolCallId === toolCallId) {
      const item = block.content[index];
      return item?.type === 'diff' ? item : null;
    }
  }
  return null;
}
