/** What is told of a hunk where the pointer rests on it. */

import type { Place } from './changes.ts';
import { codeBlock, commandLink, excerpt, splitLines, words } from './markdown.ts';

/** The commands that its links run. */
export const HOVER_COMMANDS = [
  'acp.keepHunk',
  'acp.revertHunk',
  'acp.applyHunk',
  'acp.rejectHunk',
  'acp.openDiff',
];

/**
 * Markdown with links to keep and to revert, and the lines that went.
 *
 * `old` is null as long as they are not known.
 */
export function hover(place: Place, old: readonly string[] | null, language: string): string {
  const parts = [`${heading(place)} · ${links(place).join(' · ')}`];
  if (place.proposed) {
    const lines = splitLines(place.text ?? '');
    parts.push(lines.length > 0 ? codeBlock(excerpt(lines), language) : 'The lines would go.');
  } else if (old && old.length > 0) {
    if (place.kind !== 'deleted') {
      parts.push('Before:');
    }
    parts.push(codeBlock(excerpt(old), language));
  }
  return parts.join('\n\n');
}

function heading(place: Place): string {
  const agent = `**${words(place.agent)}**`;
  if (place.conflict) {
    return place.proposed
      ? `${agent} would like to write lines that you have changed since`
      : `${agent} and you have changed the same lines`;
  }
  switch (place.kind) {
    case 'proposed':
      return `${agent} would like to write`;
    case 'added':
      return `${agent} added ${lines(place.come)}`;
    case 'deleted':
      return `${agent} removed ${lines(place.gone)}`;
    default:
      return `${agent} changed ${lines(place.gone)}`;
  }
}

function links({ sessionId, hunkId, uri, proposed, conflict }: Place): string[] {
  const target = { sessionId, hunkId };
  const keep = proposed
    ? commandLink('$(check) Apply', 'acp.applyHunk', target)
    : commandLink('$(check) Keep', 'acp.keepHunk', target);
  const revert = proposed
    ? commandLink('$(close) Reject', 'acp.rejectHunk', target)
    : commandLink('$(discard) Revert', 'acp.revertHunk', target);
  const compare = commandLink('$(diff) Compare', 'acp.openDiff', { sessionId, uri });
  const decisions = conflict ? [proposed ? revert : keep] : [keep, revert];
  return [...decisions, compare];
}

function lines(count: number): string {
  return count === 1 ? '1 line' : `${count} lines`;
}
