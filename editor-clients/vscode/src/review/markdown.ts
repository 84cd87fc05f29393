/** Text of agents and files as Markdown in which nothing of it has a meaning. */

import { shortened } from '../visible.ts';

/** Lines of an old text that a hover shows. */
const MOST_LINES = 20;
const MOST_COLUMNS = 400;

/** A code block that nothing in the text can end. */
export function codeBlock(text: string, language: string): string {
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(Math.max(3, longest + 1));
  return `${fence}${language.replace(/[^\w.+#-]/g, '')}\n${text}\n${fence}`;
}

/** One line of words, with all that Markdown would take for its own escaped. */
export function words(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replace(/[\\`*_{}[\]()#+\-.!~|<>&$:@]/g, '\\$&')
    .trim();
}

/** Lines as they are shown in a hover: not all of very many, not all of a very long one. */
export function excerpt(lines: readonly string[]): string {
  const shown = lines.slice(0, MOST_LINES).map((line) => shortened(line, MOST_COLUMNS));
  const more = lines.length - shown.length;
  return [...shown, ...(more > 0 ? [`… ${more} more`] : [])].join('\n');
}

/** The lines of a text, which end as in LSP. The empty one behind the last end is none. */
export function splitLines(text: string): string[] {
  const lines = text.split(/\r\n|\n|\r/);
  if (lines.at(-1) === '') {
    lines.pop();
  }
  return lines;
}

/** A Markdown link that runs a command of this extension with one argument. */
export function commandLink(title: string, command: string, argument: object): string {
  const query = encodeURIComponent(JSON.stringify([argument]));
  return `[${title}](command:${command}?${query.replace(/[()]/g, (it) => `%${it.charCodeAt(0).toString(16)}`)})`;
}
