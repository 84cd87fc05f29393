import { basename } from 'node:path/posix';

import { commands, Uri, window, workspace } from 'vscode';

import type { FileChange } from '../protocol.ts';
import { visible, withoutLinks } from '../visible.ts';
import { isDeleted, isOnlyProposed, type ReviewSession } from './changes.ts';
import { files } from './counts.ts';
import { BEFORE, PROPOSED, sideOf } from './documents.ts';
import type { ReviewedFile } from './review.ts';

/** Files that are compared in one editor: VS Code reads all of them. */
const MOST = 300;

/** Opens one file side by side: the text before the agent, and the file itself. */
export async function openDiff({ session, change }: ReviewedFile): Promise<void> {
  const reason = undrawable(change);
  if (reason) {
    void window.showInformationMessage(`${nameOf(change)}: ${withoutLinks(reason)}`);
    return;
  }
  const [left, right] = sides(session, change);
  const whose = change.proposed?.length
    ? `what ${session.agent} would like to write`
    : "agent's changes";
  await commands.executeCommand('vscode.diff', left, right, `${nameOf(change)} (${whose})`, {
    preview: true,
  });
}

/** Opens all files of some sessions in one editor. Tells of those that are no text. */
export async function openAllDiffs(sessions: readonly ReviewSession[]): Promise<void> {
  const left: string[] = [];
  const resources: [Uri, Uri | undefined, Uri | undefined][] = [];
  for (const session of sessions) {
    for (const change of session.changes) {
      if (undrawable(change)) {
        left.push(nameOf(change));
        continue;
      }
      const [before, after] = sides(session, change);
      const isNew = change.status === 'created' && !change.proposed?.length;
      resources.push([
        Uri.parse(change.uri),
        isNew ? undefined : before,
        isDeleted(change) ? undefined : after,
      ]);
    }
  }
  if (left.length > 0) {
    const named = left.slice(0, 3).join(', ') + (left.length > 3 ? ', …' : '');
    const them = left.length === 1 ? 'is' : 'are';
    void window.showInformationMessage(
      `${named} ${them} not shown: ${files(left.length)} without a text to compare.`,
    );
  }
  if (resources.length > 0) {
    const [only] = sessions;
    const title = sessions.length === 1 && only ? `Changes of ${only.agent}` : 'Agent changes';
    if (resources.length > MOST) {
      void window.showInformationMessage(
        `The first ${MOST} of ${files(resources.length)} are compared; the view Changes has all.`,
      );
    }
    await commands.executeCommand('vscode.changes', title, resources.slice(0, MOST));
  }
}

function sides(session: ReviewSession, change: FileChange): [Uri, Uri] {
  const subject = { sessionId: session.sessionId, uri: change.uri };
  const file = Uri.parse(change.uri);
  if (change.proposed?.length) {
    const isNew = change.status === 'created' && isOnlyProposed(change);
    return [isNew ? empty(file) : file, sideOf(PROPOSED, subject)];
  }
  const before = change.status === 'created' ? empty(file) : sideOf(BEFORE, subject);
  return [before, isDeleted(change) ? empty(file) : file];
}

/** The text of a file that is not there. */
function empty(file: Uri): Uri {
  return Uri.from({ scheme: BEFORE, path: file.path });
}

/** Why a file cannot be compared, or null. */
function undrawable(change: FileChange): string | null {
  if (change.binary) {
    return 'it is not a text. Keep or revert it as a whole.';
  }
  return change.hunks.length === 0 && change.problem ? change.problem : null;
}

function nameOf(change: FileChange): string {
  return visible(basename(Uri.parse(change.uri).path));
}

/** A file's name in the workspace, for people. */
export function pathOf(uri: string): string {
  return workspace.asRelativePath(Uri.parse(uri));
}
