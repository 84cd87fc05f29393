import { type Disposable, type TextDocument, Uri, workspace } from 'vscode';

import type { Sessions } from './sessions/sessions.ts';

/** What VS Code has from 1.100 on. */
interface Encoded {
  readonly encoding?: string;
}
type Open = (uri: Uri, options: { encoding: string }) => Thenable<TextDocument>;

/**
 * Has VS Code read as UTF-8 what an agent has made: that is how it is written, also where
 * `files.encoding` is another one. The user may read it in another way afterwards.
 */
export class MadeFiles implements Disposable {
  readonly #sessions: Sessions;
  /** Of what is open: what was read anew once. */
  readonly #done = new Set<string>();
  readonly #registrations: Disposable[];

  constructor(sessions: Sessions) {
    this.#sessions = sessions;
    this.#registrations = [
      workspace.onDidOpenTextDocument((document) => this.#look([document])),
      workspace.onDidCloseTextDocument(({ uri }) => this.#done.delete(uri.toString())),
      sessions.onDidChangeReview(() => this.#look(workspace.textDocuments)),
    ];
  }

  dispose(): void {
    for (const each of this.#registrations) {
      each.dispose();
    }
  }

  #look(documents: readonly TextDocument[]): void {
    const others = documents.filter((document) => !document.isDirty && !isUnicode(document));
    if (others.length === 0) {
      return;
    }
    const made = new Set(
      this.#sessions
        .all()
        .flatMap(({ changes }) => changes)
        .filter(({ status, binary }) => status === 'created' && !binary)
        .map(({ uri }) => Uri.parse(uri).toString()),
    );
    for (const { uri } of others) {
      const key = uri.toString();
      if (made.has(key) && !this.#done.has(key)) {
        this.#done.add(key);
        // Refused where the user has begun to type: it stays as they see it.
        void (workspace.openTextDocument as Open)(uri, { encoding: 'utf8' }).then(
          undefined,
          () => undefined,
        );
      }
    }
  }
}

/** Whether it is read as UTF-8, or as nobody can tell. */
function isUnicode(document: TextDocument): boolean {
  return ((document as Encoded).encoding ?? 'utf8').startsWith('utf8');
}
