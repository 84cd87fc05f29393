import type { Elicitation, Question } from '../protocol.ts';
import { shortened, visible, visibleLines, wrapped } from '../visible.ts';

/** Characters that a row of a QuickPick has place for. */
export const ROW = 76;
/** Rows of one command; what is longer is shown in an editor as well. */
const COMMAND_ROWS = 8;

/** One thing to know of a question. */
export interface Fact {
  kind: 'command' | 'diff' | 'said';
  /** In rows as they are to be shown. */
  rows: string[];
  /** Of a diff: which of the question's. */
  diff?: number;
}

/** What to show above the answers, in order. Everything in it is made visible. */
export function facts(question: Question): Fact[] {
  const found: Fact[] = [];
  if (question.command !== null) {
    const all = commandRows(question.command);
    const rows = all.slice(0, COMMAND_ROWS);
    if (all.length > rows.length) {
      rows.push('…');
    }
    found.push({ kind: 'command', rows });
  }
  question.diffs.forEach(({ summary }, diff) =>
    found.push({ kind: 'diff', rows: wrapped(`It ${summary}`, ROW), diff }),
  );
  for (const { text } of question.facts) {
    found.push({ kind: 'said', rows: wrapped(text, ROW) });
  }
  return found;
}

/** Whether the rows do not show the whole command. */
export function isLong(question: Question): boolean {
  return question.command !== null && commandRows(question.command).length > COMMAND_ROWS;
}

/** A question in a few words, of at most so many characters. */
export function inShort(question: Question, most: number): string {
  const agent = visible(question.agent);
  if (question.kind === 'save') {
    return shortened(`Save before ${agent} runs: ${visible(question.command ?? '')}`, most);
  }
  if (question.command !== null) {
    return shortened(`${agent} wants to run: ${visible(question.command)}`, most);
  }
  const [diff] = question.diffs;
  if (diff) {
    const others = question.diffs.length - 1;
    const more = others > 0 ? ` and ${others} more` : '';
    const name = visible(diff.path.split(/[\\/]/).at(-1) ?? diff.path);
    return `${shortened(`${agent} wants to change ${name}`, most - more.length)}${more}`;
  }
  const about = question.title === null ? '' : `: ${visible(question.title)}`;
  return shortened(`${visible(question.headline)}${about}`, most);
}

/** A form in a few words, of at most so many characters. */
export function formInShort(form: Elicitation, most: number): string {
  const agent = visible(form.agent);
  if (form.mode === 'url') {
    return shortened(`${agent} wants to open a page of ${visible(form.host ?? '')}`, most);
  }
  const [first = ''] = form.message.split('\n');
  return shortened(`${agent} wants to know: ${visible(first)}`, most);
}

function commandRows(command: string): string[] {
  return visibleLines(command).flatMap((line) => wrapped(line, ROW));
}
