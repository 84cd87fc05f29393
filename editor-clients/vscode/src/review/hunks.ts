import { type Disposable, Range, TextEditorRevealType, Uri, window } from 'vscode';

import type { FileChange, NextHunk } from '../protocol.ts';
import type { Sidecar } from '../sidecar.ts';
import { byLine, type Place, placeAt, places, placesWithin } from './changes.ts';
import { subjectOf } from './documents.ts';
import type { Review } from './review.ts';

/** The hunks at the cursor, and the way from one to the next. */
export class Hunks {
  readonly #sidecar: Sidecar;
  readonly #review: Review;
  #said: Disposable | null = null;

  constructor(sidecar: Sidecar, review: Review) {
    this.#sidecar = sidecar;
    this.#review = review;
  }

  /**
   * The hunk at the cursor of the active editor, or all that the selection meets. The sidecar
   * is asked where they are: what it told last may be of the text of a moment ago.
   */
  async atCursor(): Promise<Place[]> {
    const editor = window.activeTextEditor;
    if (!editor) {
      return [];
    }
    const found = await this.#fresh(editor.document.uri);
    const { start, end, isEmpty, active } = editor.selection;
    if (!isEmpty && start.line !== end.line) {
      return placesWithin(found, start.line, end.character === 0 ? end.line - 1 : end.line);
    }
    const place = placeAt(found, active.line);
    return place ? [place] : [];
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

  async #fresh(uri: Uri): Promise<Place[]> {
    const found: Place[] = [];
    for (const { session, change } of this.#review.of(uri)) {
      const list = await this.#sidecar.command<FileChange[]>('acp.review.list', {
        sessionId: session.sessionId,
      });
      const now = list.find((each) => each.uri === change.uri);
      found.push(...(now ? places(session, now) : []));
    }
    return found.sort(byLine);
  }
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
