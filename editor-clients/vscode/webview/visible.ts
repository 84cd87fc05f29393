import { unhidden } from '../src/visible.ts';

/** One line of text, such as a title, with all that could hide or fake something as escapes. */
export const visible = unhidden;

/** The same for a text of several lines: line ends and tabs stay, `\r\n` is a line end. */
export function visibleLines(text: string): string {
  // Most texts are plain.
  return /^[\x20-\x7e\n\t]*$/u.test(text)
    ? text
    : text.replaceAll('\r\n', '\n').replace(/[^\n\t]+/gu, unhidden);
}
