import { commands, type Disposable, Uri, window } from 'vscode';

import { isDeleted, isOnlyProposed, waitingIn } from './changes.ts';
import type { CheckpointNode, Checkpoints } from './checkpoints.ts';
import { changes, files } from './counts.ts';
import { openAllDiffs, openDiff } from './diffs.ts';
import { activeFile, atCursor, fileOf, type Hunks, showPlace } from './hunks.ts';
import type { Review } from './review.ts';
import type { Steps, Target } from './steps.ts';
import type { Node } from './tree.ts';

export interface Parts {
  review: Review;
  steps: Steps;
  hunks: Hunks;
  checkpoints: Checkpoints;
}

/** Everything of the review that has a name in the command palette, a key or a button. */
export function reviewCommands(parts: Parts): Disposable[] {
  const { review, steps, hunks, checkpoints } = parts;
  const decide = (step: 'keep' | 'revert') => async (subject: unknown, all: unknown) => {
    const what = targetsOf(subject, all) ?? atCursor();
    if (what) {
      await steps[step](what);
    }
  };
  const decideFile = (step: 'keep' | 'revert') => async (subject: unknown, all: unknown) => {
    const targets = targetsOf(subject, all) ?? filesOf(review, subject);
    if (targets.length === 0) {
      void window.showInformationMessage('No change of an agent waits in this file.');
      return;
    }
    await steps[step](targets);
  };
  const on = (name: string, run: (...given: unknown[]) => unknown) =>
    commands.registerCommand(name, run);
  return [
    on('acp.keepHunk', decide('keep')),
    on('acp.revertHunk', decide('revert')),
    on('acp.applyHunk', decide('keep')),
    on('acp.rejectHunk', decide('revert')),
    on('acp.keepFile', decideFile('keep')),
    on('acp.revertFile', decideFile('revert')),
    on('acp.keepAll', (subject) => steps.keep(everything(review, subject))),
    on('acp.revertAll', async (subject) => {
      const targets = everything(review, subject);
      if (targets.length > 0 && (await mayRevert(review, targets))) {
        await steps.revert(targets);
      }
    }),
    on('acp.undoReview', () => steps.undo()),
    on('acp.nextHunk', () => hunks.go('next')),
    on('acp.previousHunk', () => hunks.go('previous')),
    on('acp.showHunk', (node) => {
      if (isNode(node) && node.type === 'hunk') {
        const isThere = !isDeleted(node.file.change) && !isOnlyProposed(node.file.change);
        return isThere ? showPlace(node.place) : openOf(review, node);
      }
      return undefined;
    }),
    on('acp.openFile', (node) => {
      const uri = uriOf(node);
      return uri && commands.executeCommand('vscode.open', uri);
    }),
    on('acp.openDiff', (subject) => openOf(review, subject)),
    on('acp.openChanges', (subject) => {
      const wanted = sessionIdOf(subject);
      const shown = review
        .sessions()
        .filter(({ sessionId }) => wanted === null || sessionId === wanted);
      if (shown.length === 0) {
        void window.showInformationMessage('No change of an agent waits for review.');
      }
      return openAllDiffs(shown);
    }),
    on('acp.restoreCheckpoint', (node) =>
      checkpoints.restore(
        (node as CheckpointNode | undefined)?.type === 'checkpoint'
          ? (node as CheckpointNode)
          : null,
      ),
    ),
  ];
}

async function mayRevert(review: Review, targets: readonly Target[]): Promise<boolean> {
  const ids = new Set(targets.map(({ sessionId }) => sessionId));
  const meant = review.sessions().filter(({ sessionId }) => ids.has(sessionId));
  const hunks = changes(waitingIn(meant));
  const where = files(meant.reduce((total, session) => total + session.changes.length, 0));
  const answer = await window.showWarningMessage(
    `Revert ${hunks} in ${where}?`,
    {
      modal: true,
      detail: 'What you typed yourself stays. "Undo" in the view Changes takes it back.',
    },
    'Revert All',
  );
  return answer === 'Revert All';
}

async function openOf(review: Review, subject: unknown): Promise<void> {
  const uri = uriOf(subject) ?? activeFile();
  const sessionId = sessionIdOf(subject);
  const entries = uri ? review.of(uri) : [];
  const entry = entries.find(({ session }) => session.sessionId === sessionId) ?? entries[0];
  if (entry) {
    await openDiff(entry);
  } else {
    void window.showInformationMessage('No change of an agent waits in this file.');
  }
}

/** The sessions that "all" means: the one of a row, or every one. */
function everything(review: Review, subject: unknown): Target[] {
  const wanted = sessionIdOf(subject);
  return review
    .sessions()
    .filter(({ sessionId }) => wanted === null || sessionId === wanted)
    .map(({ sessionId }) => ({ sessionId }));
}

function filesOf(review: Review, subject: unknown): Target[] {
  const uri = subject instanceof Uri ? fileOf(subject) : activeFile();
  return (uri ? review.of(uri) : []).map(({ session, change }) => ({
    sessionId: session.sessionId,
    uri: change.uri,
  }));
}

/**
 * What a command was given: rows of the view, all that are selected, or a target as a link has
 * it. Null where it was given nothing of ours.
 */
function targetsOf(subject: unknown, all: unknown): Target[] | null {
  const given: unknown[] = Array.isArray(all) && all.length > 0 ? all : [subject];
  const found = given.flatMap((one) => targetOf(one) ?? []);
  const files = new Set(
    found.filter(({ hunkId }) => !hunkId).map(({ sessionId, uri }) => `${sessionId} ${uri ?? ''}`),
  );
  // A hunk below a file that is selected as well is part of it.
  const rest = found.filter(
    ({ sessionId, uri, hunkId }) => !hunkId || !files.has(`${sessionId} ${uri ?? ''}`),
  );
  return rest.length > 0 ? rest.map(plainly) : null;
}

function plainly({ sessionId, uri, hunkId }: Target): Target {
  return hunkId ? { sessionId, hunkId } : { sessionId, ...(uri ? { uri } : {}) };
}

function targetOf(subject: unknown): Target | null {
  if (isNode(subject)) {
    switch (subject.type) {
      case 'session':
      case 'more':
        return { sessionId: subject.session.sessionId };
      case 'file':
        return { sessionId: subject.session.sessionId, uri: subject.change.uri };
      case 'hunk':
        return {
          sessionId: subject.place.sessionId,
          uri: subject.place.uri,
          hunkId: subject.place.hunkId,
        };
    }
  }
  const { sessionId, hunkId } = fields(subject);
  return sessionId && hunkId ? { sessionId, hunkId } : null;
}

function uriOf(subject: unknown): Uri | null {
  if (subject instanceof Uri) {
    return fileOf(subject);
  }
  if (isNode(subject)) {
    switch (subject.type) {
      case 'file':
        return Uri.parse(subject.change.uri);
      case 'hunk':
        return Uri.parse(subject.place.uri);
      default:
        return null;
    }
  }
  const { uri } = fields(subject);
  return uri ? Uri.parse(uri) : null;
}

function sessionIdOf(subject: unknown): string | null {
  if (typeof subject === 'string') {
    return subject;
  }
  if (isNode(subject)) {
    return subject.type === 'hunk' ? subject.place.sessionId : subject.session.sessionId;
  }
  return fields(subject).sessionId ?? null;
}

function isNode(subject: unknown): subject is Node {
  const { type } = (subject ?? {}) as { type?: unknown };
  return type === 'session' || type === 'more' || type === 'file' || type === 'hunk';
}

function fields(subject: unknown): { sessionId?: string; hunkId?: string; uri?: string } {
  const found: Record<string, string> = {};
  if (typeof subject === 'object' && subject !== null && !(subject instanceof Uri)) {
    for (const name of ['sessionId', 'hunkId', 'uri']) {
      const value = (subject as Record<string, unknown>)[name];
      if (typeof value === 'string') {
        found[name] = value;
      }
    }
  }
  return found;
}
