/**
 * Text of agents, made fit to be read in VS Code's own lists and messages by a person who
 * decides by it. The sidecar does the same with what it says itself.
 */

const SHORT: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };
/** Control, format, private and unassigned characters, and blanks other than the plain space. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;
/** Printable by category, yet they show nothing: fillers, joiners. */
const BLANK = /[\u115f\u1160\u2800\u3164\uffa0]|\u034f|\u17b4|\u17b5/gu;
/** They choose between forms of the character before them; two of them are part of emojis. */
const SELECTOR =
  /(?:\p{So}|\p{Sm})[\ufe0e\ufe0f]|[\ufe00-\ufe0f]|[\u180b-\u180d\u180f]|[\u{e0100}-\u{e01ef}]/gu;

/** The text with every character that could hide or fake something shown as an escape. */
export function unhidden(text: string): string {
  return text
    .replace(UNSEEN, (character) => SHORT[character] ?? escaped(character))
    .replace(BLANK, escaped)
    .replace(SELECTOR, (found) => (Array.from(found).length > 1 ? found : escaped(found)));
}

/** VS Code makes links of Markdown in its messages, also such as run a command. */
export function withoutLinks(text: string): string {
  return text.replaceAll('](', '] (');
}

/** Both: fit for VS Code's messages. */
export function visible(text: string): string {
  return withoutLinks(unhidden(text));
}

/** The same for text of several lines, whose line ends and tabs stay what they are. */
export function visibleLines(text: string): string[] {
  return text.split(/\r\n|[\n\r]/).map((line) => line.split('\t').map(visible).join('\t'));
}

/** For VS Code's lists and status bar: `$(name)` must not become an icon, in a shell it is a command. */
export function withoutIcons(text: string): string {
  return text.replace(/\$\([a-z0-9-]+(?:~[a-z]+)?\)/gi, '\\$&');
}

/** One line for a row of a QuickPick, as it was written. */
export function rowText(text: string): string {
  return withoutIcons(visible(text));
}

/** The text, or its beginning with an ellipsis. */
export function shortened(text: string, most: number): string {
  // A character is two units at most: of a text of megabytes the rest is not looked at.
  const characters = Array.from(text.slice(0, 2 * most + 2));
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`;
}

/** The text in rows of at most so many characters, broken at blanks where there are any. */
export function wrapped(text: string, most: number): string[] {
  const rows: string[] = [];
  let rest = Array.from(text);
  while (rest.length > most) {
    const blank = rest.lastIndexOf(' ', most);
    const end = blank > most / 2 ? blank + 1 : most;
    rows.push(rest.slice(0, end).join(''));
    rest = rest.slice(end);
  }
  return [...rows, rest.join('')];
}

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code <= 0xffff
    ? `\\u${code.toString(16).padStart(4, '0')}`
    : `\\U${code.toString(16).padStart(8, '0')}`;
}
