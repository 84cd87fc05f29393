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
