import type { Elicitation, Question } from '../protocol.ts';
import { shortened, visibleLines, withoutLinks, wrapped } from '../visible.ts';

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

/** A question or a form in one line, of at most so many characters, for VS Code's messages. */
export function inShort({ short }: Question | Elicitation, most: number): string {
  return shortened(withoutLinks(short), most);
}

function commandRows(command: string): string[] {
  return visibleLines(command).flatMap((line) => wrapped(line, ROW));
}
