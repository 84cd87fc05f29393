import type { Elicitation, Question } from '../protocol.ts';
import { shortened, visible, visibleLines, wrapped } from '../visible.ts';

/** Characters that a row of a QuickPick has place for. */
const ROW = 76;
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
  const command = question.command;
  const lines = question.message.split('\n').slice(1);
  const found: Fact[] = [];
  if (command !== null) {
    const all = commandRows(command);
    const rows = all.slice(0, COMMAND_ROWS);
    if (all.length > rows.length) {
      rows.push('…');
    }
    found.push({ kind: 'command', rows });
  }
  question.diffs.forEach(({ summary }, diff) =>
    found.push({ kind: 'diff', rows: wrapped(`It ${summary}`, ROW), diff }),
  );
  const told = new Set(question.diffs.map(({ summary }) => `It ${summary}`));
  for (const line of lines) {
    const isCommand = command !== null && line === `Command: ${visible(command)}`;
    if (!isCommand && !told.has(line)) {
      found.push({ kind: 'said', rows: wrapped(line, ROW) });
    }
  }
  return [...found, ...unsaid(question)];
}

/** Whether the rows do not show the whole command. */
export function isLong(question: Question): boolean {
  return question.command !== null && commandRows(question.command).length > COMMAND_ROWS;
}

/** The first line of a question: who wants what. */
export function headline(question: Question): string {
  const [first = ''] = question.message.split('\n');
  return first || `${visible(question.agent)} asks for permission`;
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
  const head = headline(question).replace(/ \((?:[^()]*, )?(?:request|login|write) \d+\)$/, '');
  const about = question.title === null ? '' : `: ${visible(question.title)}`;
  return shortened(`${visible(head)}${about}`, most);
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

/** The message says all of it; a sidecar that left something out must not hide it. */
function unsaid(question: Question): Fact[] {
  const known: [string, string | null][] = [
    ['Folder', question.cwd],
    ...question.paths.map((path): [string, string] => ['Path', path]),
  ];
  return known
    .filter(([, value]) => value !== null && !question.message.includes(visible(value)))
    .map(([name, value]) => ({
      kind: 'said',
      rows: wrapped(`${name}: ${visible(value ?? '')}`, ROW),
    }));
}
