import { type Disposable, Range, type TextEditor, window } from 'vscode';

import type { Range as LspRange } from '../protocol.ts';
import type { Sidecar } from '../sidecar.ts';

/** What `acp/selection` answers. */
export interface EditorSelection {
  uri: string;
  selection: LspRange;
  visibleRange: LspRange | null;
}

/**
 * The selection in the editor the user was last in (`acp/selection`), also while the chat, a
 * terminal or a page of settings has the focus.
 */
export class LastEditor implements Disposable {
  readonly #subscription: Disposable;
  #editor: TextEditor | null;

  /** Before the sidecar's first start. */
  constructor(sidecar: Sidecar) {
    this.#editor = inColumn(window.activeTextEditor);
    this.#subscription = window.onDidChangeActiveTextEditor((editor) => {
      this.#editor = inColumn(editor) ?? this.#editor;
    });
    sidecar.onRequest<object, EditorSelection | null>('acp/selection', () => this.selection());
  }

  /** Null where the user was in no editor, or has closed it. */
  selection(): EditorSelection | null {
    const editor = this.#editor;
    if (!editor || editor.document.isClosed || !isOpen(editor)) {
      return null;
    }
    const [first] = editor.visibleRanges;
    const last = editor.visibleRanges.at(-1);
    return {
      uri: editor.document.uri.toString(),
      selection: lspRange(editor.selection),
      visibleRange: first && last ? lspRange(new Range(first.start, last.end)) : null,
    };
  }

  dispose(): void {
    this.#subscription.dispose();
  }
}

/** An output or the prompt of a search is an editor too, but in no column. */
function inColumn(editor: TextEditor | undefined): TextEditor | null {
  return editor?.viewColumn === undefined ? null : editor;
}

/** VS Code closes a document minutes after its last tab. */
function isOpen(editor: TextEditor): boolean {
  const uri = editor.document.uri.toString();
  return (
    window.visibleTextEditors.includes(editor) ||
    window.tabGroups.all.some(({ tabs }) =>
      tabs.some((tab) => {
        const input = tab.input as { uri?: { toString(): string } } | undefined;
        return input?.uri?.toString() === uri;
      }),
    )
  );
}

function lspRange({ start, end }: Range): LspRange {
  return {
    start: { line: start.line, character: start.character },
    end: { line: end.line, character: end.character },
  };
}
