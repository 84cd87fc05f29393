import type { ChangedFile, Location, QuestionDiff, ToolCallContent } from '../../src/protocol.ts';
import { diffTexts, type FileDiff } from '../diff.ts';
import { element, icon } from '../element.ts';
import { pathLink } from '../markdown.ts';
import { patchFiles } from '../patch.ts';
import { shortPath } from '../paths.ts';
import { visible, visibleLines } from '../visible.ts';
import type { BlockContext } from './context.ts';
import { clamped } from './fold.ts';

/** A diff of a longer one's first lines is shown. */
const MOST_LINES = 24;
/** More lines than this are left to the editor. */
const MOST_DRAWN = 2000;

type Diff = Extract<ToolCallContent, { type: 'diff' }>;

/** A report of changed files: of one with both its texts, or of several with a patch. */
export function diffOf(
  diff: Diff,
  index: number,
  locations: Location[],
  context: BlockContext,
  open: () => void,
): HTMLElement[] {
  const button = element('button', {
    type: 'button',
    class: 'small-button',
    'data-key': `open:${index}`,
  });
  button.append(icon('diff'), 'Open diff');
  button.addEventListener('click', open);
  if (diff.changes === undefined) {
    const path = diff.path ?? '';
    const texts = diffTexts(diff.oldText ?? null, diff.newText ?? '');
    // A part of a file is reported like a whole one. Its lines are known where it is new, or
    // where the agent says of a change in which line it is.
    const first = texts.parts.flatMap((it) => it.lines).find((it) => it.sign !== ' ');
    const line = first?.after ?? first?.before ?? null;
    const numbered =
      (diff.oldText ?? null) === null ||
      locations.some((it) => it.path === path && it.line !== null && it.line === line);
    return [
      oneFile(heading(path, texts, context), texts, numbered, `diff:${index}`, context, button),
    ];
  }
  const files = patchFiles(typeof diff.patch?.text === 'string' ? diff.patch.text : '');
  const understood = diff.patch?.format === undefined || diff.patch.format === 'git_patch';
  const shown = diff.changes.map((change, place) => {
    const file = understood
      ? (files.find((it) => it.path !== null && sameFile(it.path, change)) ??
        (files.length === diff.changes?.length ? files[place] : undefined))
      : undefined;
    const texts = file?.diff ?? { parts: [], added: 0, removed: 0 };
    const head = changeHeading(change, file?.diff ?? null, context);
    return oneFile(
      head,
      texts,
      true,
      `diff:${index}:${place}`,
      context,
      place === 0 ? button : null,
    );
  });
  if (!understood && diff.patch?.text) {
    const text = visibleLines(diff.patch.text);
    shown.push(
      element('pre', {
        class: 'plain',
        tabindex: '0',
        role: 'group',
        'aria-label': 'Patch',
        text,
      }),
    );
  }
  return shown;
}

/** What a question would change. */
export function questionDiff(
  diff: QuestionDiff,
  index: number,
  context: BlockContext,
): HTMLElement {
  const texts = diffTexts(diff.oldText, diff.newText);
  return oneFile(
    heading(diff.path, texts, context),
    texts,
    diff.whole,
    `diff:${index}`,
    context,
    null,
  );
}

function sameFile(patched: string, change: ChangedFile): boolean {
  const bare = patched.replace(/^"|"$/gu, '').replace(/^\//u, '');
  return [change.path, change.oldPath].some(
    (path) =>
      path !== undefined && path !== null && `/${path.replace(/^\//u, '')}`.endsWith(`/${bare}`),
  );
}

function heading(path: string, diff: FileDiff, context: BlockContext): HTMLElement {
  return element(
    'span',
    { class: 'diff-title' },
    path === '' ? 'A file without a name' : file(path, context),
    counts(diff),
  );
}

function changeHeading(
  change: ChangedFile,
  diff: FileDiff | null,
  context: BlockContext,
): HTMLElement {
  const known = typeof change.path === 'string';
  const said: Record<string, string> = {
    add: 'new',
    delete: 'deleted',
    move: 'moved',
    copy: 'copied',
    modify: '',
  };
  const operation = change.operation ?? '';
  const words = [said[operation] ?? visible(operation)];
  if (change.fileType && change.fileType !== 'text') {
    words.push(visible(change.fileType));
  }
  return element(
    'span',
    { class: 'diff-title' },
    change.oldPath ? file(change.oldPath, context) : null,
    change.oldPath ? ' → ' : null,
    known ? file(change.path ?? '', context) : 'A change',
    diff && counts(diff),
    element('span', { class: 'muted', text: words.filter(Boolean).join(', ') }),
  );
}

function file(path: string, context: BlockContext): HTMLElement {
  return pathLink(shortPath(path, context.cwd), { path, line: null }, context);
}

function counts(diff: FileDiff): HTMLElement {
  return element(
    'span',
    { class: 'counts' },
    element('span', { class: 'removed', text: `−${diff.removed}` }),
    element('span', { class: 'added', text: `+${diff.added}` }),
  );
}

function oneFile(
  head: HTMLElement,
  diff: FileDiff,
  numbered: boolean,
  name: string,
  context: BlockContext,
  button: HTMLElement | null,
): HTMLElement {
  const box = element(
    'div',
    { class: 'diff' },
    element('div', { class: 'diff-head' }, head, button),
  );
  const all = diff.parts.reduce((sum, part) => sum + part.lines.length, 0);
  if (all > 0) {
    const lines = element('div', {
      class: 'diff-lines',
      tabindex: '0',
      role: 'group',
      'aria-label': 'Changed lines',
    });
    lines.append(drawn(diff, numbered));
    lines.classList.toggle('numbered', numbered);
    box.append(clamped(context, name, lines, all, MOST_LINES));
  }
  return box;
}

function drawn(diff: FileDiff, numbered: boolean): DocumentFragment {
  const fragment = document.createDocumentFragment();
  let left = MOST_DRAWN;
  for (const [index, part] of diff.parts.entries()) {
    if (index > 0 || (numbered && part.skipped > 0)) {
      const many = part.skipped === 1 ? '1 line' : `${part.skipped} lines`;
      fragment.append(element('div', { class: 'skipped', text: part.skipped > 0 ? many : '⋯' }));
    }
    for (const line of part.lines.slice(0, Math.max(left, 0))) {
      const kind = line.sign === '+' ? 'add' : line.sign === '-' ? 'remove' : 'same';
      const number = String((line.sign === '-' ? line.before : line.after) ?? '');
      fragment.append(
        element(
          'div',
          { class: `line ${kind}` },
          numbered ? element('span', { class: 'number', 'data-number': number }) : null,
          element('span', { class: 'sign', text: line.sign === '-' ? '−' : line.sign }),
          element('span', { class: 'text', text: visibleLines(line.text) || ' ' }),
        ),
      );
    }
    left -= part.lines.length;
  }
  if (left < 0) {
    fragment.append(
      element('div', { class: 'skipped', text: `${-left} more lines: open the diff` }),
    );
  }
  return fragment;
}
