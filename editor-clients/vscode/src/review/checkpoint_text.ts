/** What a checkpoint is called, and what going back to it would do. */

import type { CheckpointPreview } from '../protocol.ts';
import { shortened } from '../visible.ts';
import { files } from './counts.ts';

/** Files that are named; of more there is a count. */
const NAMED = 8;

/** Characters of a prompt that it is called by. */
const MOST = 60;

const VERBS = { modified: 'Change', created: 'Bring back', deleted: 'Delete' } as const;

/** The first line of a prompt. */
export function checkpointLabel(label: string): string {
  const line = label.trim().split(/\s*[\r\n]/)[0] ?? '';
  return shortened(line, MOST) || 'A prompt without words';
}

/** Whether going back to it would do anything. */
export function doesNothing({ files, conflicts }: CheckpointPreview): boolean {
  return files.length + conflicts.length === 0;
}

/** The lines of the question before a restore. `pathOf` names a file for people. */
export function outlook(preview: CheckpointPreview, pathOf: (uri: string) => string): string {
  const named = preview.files.slice(0, NAMED);
  const lines = named.map(({ uri, change }) => `${VERBS[change]} ${pathOf(uri)}`);
  const rest = preview.files.length - named.length;
  if (rest > 0) {
    lines.push(`… and ${files(rest)} more`);
  }
  if (preview.conflicts.length > 0) {
    lines.push('Where you have changed the same lines, yours stay.');
  }
  lines.push(...preview.problems);
  lines.push('', 'What you changed elsewhere stays. "Undo" in the view Changes takes it back.');
  return lines.join('\n');
}
