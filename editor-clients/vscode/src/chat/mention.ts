import { isAbsolute, relative } from 'node:path';

/** Lines of a file, counted from 1, both included. */
export interface MentionedLines {
  first: number;
  last: number;
}

/**
 * How a prompt names a file: `@src/a.py`, `@"my file.txt"`, `@a.py:10-20`.
 *
 * @param path absolute
 * @param cwd the session's folder
 */
export function mention(path: string, cwd: string, lines: MentionedLines | null): string {
  const within = relative(cwd, path);
  const name = within === '' || within.startsWith('..') || isAbsolute(within) ? path : within;
  const shown = name.replaceAll('\\', '/');
  const quoted = /^[\w./\-+~:\p{L}\p{N}]+$/u.test(shown) ? shown : `"${shown}"`;
  if (lines === null) {
    return `@${quoted} `;
  }
  const span = lines.first === lines.last ? `${lines.first}` : `${lines.first}-${lines.last}`;
  return `@${quoted}:${span} `;
}
