import {
  commands,
  type Disposable,
  TabInputText,
  TabInputTextDiff,
  Uri,
  ViewColumn,
  window,
  workspace,
} from 'vscode';

import type { Question } from '../protocol.ts';
import { visible, visibleLines } from '../visible.ts';
import type { Questions } from './questions.ts';

/** Of what is shown of a question in the editor. */
export const SCHEME = 'acp-question';
/** Diffs opened at once. */
const MOST = 10;

/**
 * What a question is about, in an editor beside the user's: its diffs, a long command. The
 * focus stays where it is. All of it closes when the question is settled.
 */
export class Previews implements Disposable {
  readonly #questions: Questions;
  readonly #texts = new Map<string, string>();
  readonly #subscriptions: { dispose(): unknown }[];

  constructor(questions: Questions) {
    this.#questions = questions;
    this.#subscriptions = [
      workspace.registerTextDocumentContentProvider(SCHEME, {
        provideTextDocumentContent: (uri) => this.#texts.get(uri.path) ?? '',
      }),
      questions.onDidChange(() => this.#closeSettled()),
    ];
    // Those of a window that was reloaded.
    this.#closeSettled();
  }

  /** Opens all there is to see of a question; the first diff lies on top. */
  async open(question: Question): Promise<void> {
    for (const index of [...question.diffs.keys()].slice(0, MOST).reverse()) {
      await this.openDiff(question, index, false);
    }
    if (question.diffs.length === 0) {
      await this.openCommand(question);
    }
  }

  /** Opens one of the question's diffs, side by side with what there is now. */
  async openDiff(question: Question, index: number, preview = true): Promise<void> {
    const diff = question.diffs[index];
    if (!diff) {
      return;
    }
    const name = diff.path.split(/[\\/]/).at(-1) ?? diff.path;
    const before = this.#keep(question, `${index}/before/${name}`, diff.oldText ?? '');
    const after = this.#keep(question, `${index}/after/${name}`, diff.newText);
    const title = `${visible(name)} (${visible(question.agent)} asks)`;
    const options = { viewColumn: ViewColumn.Beside, preserveFocus: true, preview };
    await commands.executeCommand('vscode.diff', before, after, title, options);
    this.#closeSettled();
  }

  /** Opens the whole command of a question. */
  async openCommand(question: Question): Promise<void> {
    if (question.command === null) {
      return;
    }
    const uri = this.#keep(question, 'command.sh', visibleLines(question.command).join('\n'));
    const options = { viewColumn: ViewColumn.Beside, preserveFocus: true, preview: true };
    await window.showTextDocument(uri, options);
    this.#closeSettled();
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) {
      subscription.dispose();
    }
  }

  #keep(question: Question, name: string, text: string): Uri {
    const uri = Uri.from({ scheme: SCHEME, path: `/${question.requestId}/${name}` });
    this.#texts.set(uri.path, text);
    return uri;
  }

  #closeSettled(): void {
    const settled = (uri: Uri) =>
      uri.scheme === SCHEME && !this.#questions.get(uri.path.split('/')[1] ?? '');
    const tabs = window.tabGroups.all
      .flatMap((group) => group.tabs)
      .filter(({ input }) =>
        input instanceof TabInputTextDiff
          ? settled(input.modified)
          : input instanceof TabInputText && settled(input.uri),
      );
    for (const path of [...this.#texts.keys()]) {
      if (!this.#questions.get(path.split('/')[1] ?? '')) {
        this.#texts.delete(path);
      }
    }
    if (tabs.length > 0) {
      void window.tabGroups.close(tabs, true);
    }
  }
}
