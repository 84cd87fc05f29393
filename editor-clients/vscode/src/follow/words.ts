const DOES: Readonly<Record<string, string>> = {
  read: 'reads',
  edit: 'edits',
  delete: 'deletes',
  move: 'moves',
  search: 'searches',
  execute: 'runs a command',
  fetch: 'fetches',
};

/** "demo edits": what an agent does by a tool call of this kind. */
export function agentDoes(agent: string, kind: string | null): string {
  return `${agent || 'agent'} ${DOES[kind ?? ''] ?? 'is here'}`;
}

/** The line after a change, of one that stood at `line`. Lines count from 0. */
export function lineAfter(
  line: number,
  change: { startLine: number; endLine: number; text: string },
): number {
  const { startLine, endLine, text } = change;
  if (startLine > line) {
    return line;
  }
  const added = text.split('\n').length - 1;
  return endLine <= line ? line + added - (endLine - startLine) : startLine;
}
