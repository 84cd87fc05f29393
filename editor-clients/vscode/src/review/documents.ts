import {
  type Disposable,
  type Event,
  EventEmitter,
  type TextDocumentContentProvider,
  Uri,
  workspace,
} from 'vscode';

import type { Review } from './review.ts';
import type { ReviewTexts } from './texts.ts';

/** The text before the agent, and the text that the agent would like to write. */
export const BEFORE = 'acp-before';
export const PROPOSED = 'acp-proposed';

interface Subject {
  sessionId: string;
  uri: string;
}

/** The document that is the other side of a comparison. The path gives it its language. */
export function sideOf(scheme: string, { sessionId, uri }: Subject): Uri {
  return Uri.from({ scheme, path: Uri.parse(uri).path, query: JSON.stringify({ sessionId, uri }) });
}

/** The file that such a document is about; null for another document, and for an empty side. */
export function subjectOf(uri: Uri): Subject | null {
  if ((uri.scheme !== BEFORE && uri.scheme !== PROPOSED) || !uri.query) {
    return null;
  }
  const { sessionId, uri: file } = JSON.parse(uri.query) as Subject;
  return { sessionId, uri: file };
}

/** Gives the texts of comparisons, and gives them anew when something was decided. */
export class ReviewDocuments implements TextDocumentContentProvider, Disposable {
  readonly #texts: ReviewTexts;
  readonly #changed = new EventEmitter<Uri>();
  readonly #subscriptions: Disposable[];
  /** What was given last: of a file that is not known any more there is nothing else. */
  readonly #last = new Map<string, string>();

  constructor(review: Review, texts: ReviewTexts) {
    this.#texts = texts;
    this.#subscriptions = [
      workspace.registerTextDocumentContentProvider(BEFORE, this),
      workspace.registerTextDocumentContentProvider(PROPOSED, this),
      review.onDidChange(() => this.#refresh()),
      workspace.onDidCloseTextDocument(({ uri }) => this.#last.delete(uri.toString())),
    ];
  }

  get onDidChange(): Event<Uri> {
    return this.#changed.event;
  }

  async provideTextDocumentContent(uri: Uri): Promise<string> {
    const key = uri.toString();
    const subject = subjectOf(uri);
    if (!subject) {
      return '';
    }
    try {
      const isProposed = uri.scheme === PROPOSED;
      const texts = await this.#texts.ask(subject.sessionId, subject.uri, isProposed);
      const text = isProposed ? texts.after : texts.before;
      this.#last.set(key, text);
      return text;
    } catch (error) {
      const last = this.#last.get(key);
      if (last === undefined) {
        throw error;
      }
      return last;
    }
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) {
      subscription.dispose();
    }
    this.#changed.dispose();
  }

  #refresh(): void {
    for (const { uri } of workspace.textDocuments) {
      if (subjectOf(uri)) {
        this.#changed.fire(uri);
      }
    }
  }
}
