import { type Disposable, Range, TextEditorRevealType, Uri, window } from 'vscode';

import type { NextHunk } from '../protocol.ts';
import type { Sidecar } from '../sidecar.ts';
import type { Place } from './changes.ts';
import { subjectOf } from './documents.ts';
import type { Spot } from './steps.ts';

/** The way from one hunk to the next. */
export class Hunks {
  readonly #sidecar: Sidecar;
  #said: Disposable | null = null;

  constructor(sidecar: Sidecar) {
    this.#sidecar = sidecar;
  }

  /** Goes to the hunk after or before the cursor, in whatever file that is. */
  async go(direction: 'next' | 'previous'): Promise<void> {
    const editor = window.activeTextEditor;
    const next = await this.#sidecar.command<NextHunk | null>('acp.review.next', {
      direction,
      uri: editor?.document.uri.toString() ?? null,
      line: editor?.selection.active.line ?? null,
      open: false,
    });
    if (!next) {
      window.setStatusBarMessage('No change of an agent waits.', 4000);
      return;
    }
    const { start, end } = next.range;
    await showPlace({ uri: next.uri, first: start.line, count: end.line - start.line + 1 });
    this.#said?.dispose();
    this.#said = window.setStatusBarMessage(`Change ${next.number} of ${next.of}`, 4000);
  }
}

/** Where the cursor or the selection of the active editor is; the sidecar says which hunks that means. */
export function atCursor(): Spot | null {
  const editor = window.activeTextEditor;
  if (!editor) {
    return null;
  }
  const { start, end } = editor.selection;
  return {
    uri: editor.document.uri.toString(),
    range: {
      start: { line: start.line, character: start.character },
      end: { line: end.line, character: end.character },
    },
  };
}

/** Opens the file of a hunk there. */
export async function showPlace(
  place: Pick<Place, 'uri' | 'first' | 'count'>,
  preserveFocus = false,
): Promise<void> {
  const uri = Uri.parse(place.uri);
  const line = Math.max(0, place.first);
  const editor = await window.showTextDocument(uri, {
    preserveFocus,
    preview: true,
    selection: new Range(line, 0, line, 0),
  });
  editor.revealRange(
    new Range(line, 0, line + Math.max(place.count - 1, 0), 0),
    TextEditorRevealType.InCenterIfOutsideViewport,
  );
}

/** The file that the active editor is about, also where it is a side of a comparison. */
export function activeFile(): Uri | null {
  const uri = window.activeTextEditor?.document.uri;
  return uri ? fileOf(uri) : null;
}

/** The file that a document is, or is a side of a comparison of. */
export function fileOf(uri: Uri): Uri {
  const subject = subjectOf(uri);
  return subject ? Uri.parse(subject.uri) : uri;
}
