import {
  type Disposable,
  OverviewRulerLane,
  type Range,
  type TextEditor,
  ThemeColor,
  Uri,
  window,
  workspace,
} from 'vscode';

import { lineAfter } from './lines.ts';
import type { Seen } from './scrolling.ts';
import { agentDoes } from './words.ts';

/** Where an agent is: `line` counts from 0, null where it named none. */
export interface Mark {
  uri: string;
  line: number | null;
  agent: string;
  kind: string | null;
}

/** Draws where the agents are in every editor that shows the place, the user's own too. */
export class Marks implements Disposable {
  readonly #marks = new Map<string, Mark>();
  readonly #line;
  readonly #sign;
  readonly #subscriptions: { dispose(): unknown }[];

  constructor(extensionUri: Uri) {
    const icon = (theme: string) => Uri.joinPath(extensionUri, 'media', `agent-here-${theme}.svg`);
    const sign = {
      isWholeLine: true,
      gutterIconSize: 'contain',
      dark: { gutterIconPath: icon('dark') },
      light: { gutterIconPath: icon('light') },
    };
    this.#sign = window.createTextEditorDecorationType(sign);
    this.#line = window.createTextEditorDecorationType({
      ...sign,
      backgroundColor: new ThemeColor('acp.agentLineBackground'),
      borderColor: new ThemeColor('acp.agentLineBorder'),
      borderStyle: 'solid',
      borderWidth: '1px 0',
      overviewRulerColor: new ThemeColor('acp.agentOverviewRulerForeground'),
      overviewRulerLane: OverviewRulerLane.Full,
    });
    this.#subscriptions = [
      this.#line,
      this.#sign,
      window.onDidChangeVisibleTextEditors(() => this.#drawAll()),
      workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        for (const mark of this.#marks.values()) {
          if (mark.uri !== document.uri.toString() || mark.line === null) {
            continue;
          }
          for (const { range, text } of contentChanges) {
            const [startLine, endLine] = [range.start.line, range.end.line];
            mark.line = lineAfter(mark.line, { startLine, endLine, text });
          }
        }
      }),
    ];
  }

  /** The agent of a session is there, and nowhere else. */
  put(sessionId: string, mark: Mark): void {
    this.#marks.set(sessionId, mark);
    this.#drawAll();
  }

  remove(sessionId: string): void {
    if (this.#marks.delete(sessionId)) {
      this.#drawAll();
    }
  }

  /** Keeps the marks of these sessions only. */
  keep(sessionIds: ReadonlySet<string>): void {
    for (const sessionId of [...this.#marks.keys()]) {
      if (!sessionIds.has(sessionId)) {
        this.remove(sessionId);
      }
    }
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) {
      subscription.dispose();
    }
  }

  #drawAll(): void {
    for (const editor of window.visibleTextEditors) {
      this.#draw(editor);
    }
  }

  #draw(editor: TextEditor): void {
    const uri = editor.document.uri.toString();
    const here = [...this.#marks.values()].filter((mark) => mark.uri === uri);
    const options = (mark: Mark) => {
      const line = Math.min(mark.line ?? 0, editor.document.lineCount - 1);
      return {
        range: editor.document.lineAt(Math.max(line, 0)).range,
        renderOptions: {
          after: {
            contentText: `● ${agentDoes(mark.agent, mark.kind)}`,
            color: new ThemeColor('acp.agentLabelForeground'),
            margin: '0 0 0 3ch',
            fontStyle: 'italic',
          },
        },
      };
    };
    const [lined, unlined] = [here.filter(hasLine), here.filter((mark) => !hasLine(mark))];
    editor.setDecorations(this.#line, lined.map(options));
    editor.setDecorations(this.#sign, unlined.map(options));
  }
}

function hasLine(mark: Mark): boolean {
  return mark.line !== null;
}

/** The lines of an editor that are on the screen, from 0; null before it was drawn. */
export function seen(editor: TextEditor): Seen | null {
  const ranges: readonly Range[] = editor.visibleRanges;
  const [first, last] = [ranges[0], ranges.at(-1)];
  return first && last ? { first: first.start.line, last: last.end.line } : null;
}
