import {
  type DecorationOptions,
  DecorationRangeBehavior,
  type DecorationRenderOptions,
  type Disposable,
  MarkdownString,
  OverviewRulerLane,
  Range,
  TabInputTextDiff,
  type TextDocument,
  type TextEditor,
  type TextEditorDecorationType,
  ThemeColor,
  Uri,
  window,
  workspace,
} from 'vscode';

import { isDeleted, type Place, places } from './changes.ts';
import { hover, HOVER_COMMANDS } from './hover.ts';
import { drawn, gutterIcon, type Look, LOOKS, proposal } from './looks.ts';
import type { Review, ReviewedFile } from './review.ts';
import { oldLines, type ReviewTexts, type Texts } from './texts.ts';

/** Milliseconds without a key after which marks are moved: until then VS Code moves them. */
const QUIET = 250;
/** Hunks of a document that are drawn. */
const MOST = 2000;

/** Draws the hunks of the documents on the screen: lines, gutter, ruler and hovers. */
export class Decorations implements Disposable {
  readonly #review: Review;
  readonly #texts: ReviewTexts;
  readonly #types: Readonly<Record<Look, TextEditorDecorationType>>;
  /** The same without colours on the lines: a comparison has its own. */
  readonly #bare: Readonly<Record<Look, TextEditorDecorationType>>;
  readonly #subscriptions: Disposable[];
  readonly #edited = new WeakMap<TextDocument, number>();
  readonly #drawn = new WeakSet<TextEditor>();
  #timer: NodeJS.Timeout | null = null;

  constructor(review: Review, texts: ReviewTexts) {
    this.#review = review;
    this.#texts = texts;
    this.#types = typesOf(lineStyle);
    this.#bare = typesOf(gutterStyle);
    this.#subscriptions = [
      review.onDidChange(() => this.#drawAll()),
      window.onDidChangeVisibleTextEditors(() => this.#drawAll()),
      window.tabGroups.onDidChangeTabs(() => this.#drawAll()),
      workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.length > 0) {
          this.#edited.set(document, Date.now());
        }
      }),
    ];
    this.#drawAll();
  }

  dispose(): void {
    clearTimeout(this.#timer ?? undefined);
    for (const disposable of [
      ...this.#subscriptions,
      ...Object.values(this.#types),
      ...Object.values(this.#bare),
    ]) {
      disposable.dispose();
    }
  }

  #drawAll(): void {
    for (const editor of window.visibleTextEditors) {
      const quiet = Date.now() - (this.#edited.get(editor.document) ?? 0);
      if (quiet < QUIET) {
        this.#later(QUIET - quiet);
      } else {
        this.#draw(editor);
      }
    }
  }

  #later(milliseconds: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.#drawAll();
    }, milliseconds);
  }

  #draw(editor: TextEditor): void {
    const files = this.#review.of(editor.document.uri).filter(({ change }) => !isDeleted(change));
    if (files.length === 0 && !this.#drawn.has(editor)) {
      return;
    }
    this.#drawn.add(editor);
    this.#show(editor, files, new Map());
    void this.#withTexts(editor, files);
  }

  /** Draws again with the lines that went: they are asked of the sidecar. */
  async #withTexts(editor: TextEditor, files: readonly ReviewedFile[]): Promise<void> {
    const known = new Map<ReviewedFile, Texts>();
    for (const file of files) {
      if (file.change.hunks.some(({ before }) => before.lines > 0)) {
        try {
          known.set(file, await this.#texts.of(file.session.sessionId, file.change));
        } catch {
          // Nothing waits there any more, or the sidecar is gone: a list will come, or none.
        }
      }
    }
    const isCurrent = files.every((file) =>
      this.#review.of(editor.document.uri).some(({ change }) => change === file.change),
    );
    if (known.size > 0 && isCurrent && window.visibleTextEditors.includes(editor)) {
      this.#show(editor, files, known);
    }
  }

  #show(
    editor: TextEditor,
    files: readonly ReviewedFile[],
    texts: ReadonlyMap<ReviewedFile, Texts>,
  ): void {
    const isBare = isCompared(editor);
    const found = new Map<Look, DecorationOptions[]>(LOOKS.map((look) => [look, []]));
    for (const file of files) {
      for (const place of places(file.session, file.change).slice(0, MOST)) {
        const { look, from, to } = drawn(
          place,
          editor.document.lineCount,
          file.change.status === 'created',
        );
        const known = texts.get(file);
        found.get(look)?.push({
          range: editor.document.validateRange(new Range(from, 0, to, Number.MAX_SAFE_INTEGER)),
          hoverMessage: markdown(place, known ? oldLines(place, known) : null, editor.document),
          ...(place.proposed ? { renderOptions: { after: { contentText: proposal(place) } } } : {}),
        });
      }
    }
    for (const [look, options] of found) {
      editor.setDecorations(this.#types[look], isBare ? [] : options);
      editor.setDecorations(this.#bare[look], isBare ? options : []);
    }
  }
}

function markdown(place: Place, old: readonly string[] | null, { languageId }: TextDocument) {
  const message = new MarkdownString(hover(place, old, languageId), true);
  message.isTrusted = { enabledCommands: HOVER_COMMANDS };
  return message;
}

/** Whether the editor is a side of a comparison, which has colours of its own. */
function isCompared({ document, viewColumn }: TextEditor): boolean {
  if (viewColumn === undefined) {
    return true;
  }
  const input = window.tabGroups.all.find((group) => group.viewColumn === viewColumn)?.activeTab
    ?.input;
  return input instanceof TabInputTextDiff && input.modified.toString() === document.uri.toString();
}

type Hue = 'added' | 'modified' | 'deleted' | 'conflict' | 'proposed';

const HUES: Readonly<Record<Look, Hue>> = {
  added: 'added',
  created: 'added',
  modified: 'modified',
  deletedAbove: 'deleted',
  deletedBelow: 'deleted',
  conflict: 'conflict',
  conflictAbove: 'conflict',
  conflictBelow: 'conflict',
  proposed: 'proposed',
  insertAbove: 'proposed',
  insertBelow: 'proposed',
};

/** Pictures in the gutter have no theme colours. */
const INKS: Readonly<Record<Hue, { dark: string; light: string }>> = {
  added: { dark: '#3fb950', light: '#1a7f37' },
  modified: { dark: '#4aa5f0', light: '#0969da' },
  deleted: { dark: '#f85149', light: '#cf222e' },
  conflict: { dark: '#e3b341', light: '#9a6700' },
  proposed: { dark: '#b180d7', light: '#8250df' },
};

function typesOf(
  style: (look: Look) => DecorationRenderOptions,
): Record<Look, TextEditorDecorationType> {
  const made = LOOKS.map((look) => [look, window.createTextEditorDecorationType(style(look))]);
  return Object.fromEntries(made) as Record<Look, TextEditorDecorationType>;
}

function gutterStyle(look: Look): DecorationRenderOptions {
  const { dark, light } = INKS[HUES[look]];
  return {
    isWholeLine: true,
    rangeBehavior: DecorationRangeBehavior.ClosedClosed,
    overviewRulerColor: new ThemeColor(`acp.${HUES[look]}Marker`),
    overviewRulerLane: OverviewRulerLane.Left,
    // Bars of neighbouring lines are to touch.
    dark: { gutterIconPath: Uri.parse(gutterIcon(look, dark)), gutterIconSize: '100% 100%' },
    light: { gutterIconPath: Uri.parse(gutterIcon(look, light)), gutterIconSize: '100% 100%' },
  };
}

function lineStyle(look: Look): DecorationRenderOptions {
  const marker = new ThemeColor(`acp.${HUES[look]}Marker`);
  const style = gutterStyle(look);
  if (look.endsWith('Above') || look.endsWith('Below')) {
    return {
      ...style,
      borderColor: marker,
      borderStyle: 'solid',
      borderWidth: look.endsWith('Above') ? '1px 0 0 0' : '0 0 1px 0',
      ...(HUES[look] === 'proposed' ? { after: ghost() } : {}),
    };
  }
  return {
    ...style,
    ...(look === 'created'
      ? {}
      : {
          backgroundColor: new ThemeColor(`acp.${HUES[look]}LineBackground`),
          borderColor: new ThemeColor(`acp.${HUES[look]}LineBorder`),
        }),
    ...(look === 'proposed' ? { after: ghost() } : {}),
  };
}

function ghost() {
  return {
    color: new ThemeColor('acp.proposedText'),
    fontStyle: 'italic',
    margin: '0 0 0 3ch',
  };
}
