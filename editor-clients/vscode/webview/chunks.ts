/**
 * Cuts Markdown where a blank line ends one thing and begins another, so that of a text that
 * grows only its last piece has to be drawn again. Lists, quotes and fences stay whole.
 */
export function chunks(markdown: string): string[] {
  const pieces: string[] = [];
  let piece: string[] = [];
  let fence: string | null = null;
  let blank = false;
  for (const line of markdown.split('\n')) {
    if (fence !== null) {
      piece.push(line);
      if (closes(line, fence)) {
        fence = null;
      }
      continue;
    }
    if (line.trim() === '') {
      blank = true;
      piece.push(line);
      continue;
    }
    if (blank && !continues(line, piece)) {
      pieces.push(piece.join('\n').trimEnd());
      piece = [];
    }
    blank = false;
    piece.push(line);
    fence = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/u.exec(line)?.[1] ?? null;
  }
  const last = piece.join('\n');
  pieces.push(fence === null ? last.trimEnd() : last);
  return pieces;
}

/** Whether a fence that was opened is not closed yet. */
export function fenceIsOpen(piece: string): boolean {
  let fence: string | null = null;
  for (const line of piece.split('\n')) {
    if (fence === null) {
      fence = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/u.exec(line)?.[1] ?? null;
    } else if (closes(line, fence)) {
      fence = null;
    }
  }
  return fence !== null;
}

/** The link definitions of a text, which count in all its pieces. */
export function definitions(markdown: string): string {
  return markdown.includes(']:')
    ? (markdown.match(/^ {0,3}\[[^\]\n]+\]:[ \t]*\S.*$/gmu) ?? []).join('\n')
    : '';
}

function closes(line: string, fence: string): boolean {
  const mark = /^ {0,3}(`{3,}|~{3,})[ \t]*$/u.exec(line)?.[1];
  return mark !== undefined && mark.startsWith(fence.charAt(0)) && mark.length >= fence.length;
}

/** Whether a line behind a blank one may belong to what was before. */
function continues(line: string, piece: string[]): boolean {
  const item = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)/u;
  const first = piece.find((it) => it.trim() !== '') ?? '';
  return /^\s/u.test(line) || (item.test(line) && item.test(first));
}
