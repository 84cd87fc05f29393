/** The rows of the view "Changes", before VS Code draws them. */

import { basename } from 'node:path/posix';

import type { FileChange } from '../protocol.ts';
import { shortened, unhidden } from '../visible.ts';
import {
  counts,
  isOnlyProposed,
  type Place,
  places,
  type ReviewSession,
  waiting,
} from './changes.ts';
import { changes as changesOf } from './counts.ts';

/** Files that are listed at once; the others come by opening the row at the end. */
export const PAGE = 500;
/** With more files than these only the files are shown at first. */
const FEW = 10;

export interface SessionNode {
  type: 'session';
  id: string;
  session: ReviewSession;
}

export interface FileNode {
  type: 'file';
  id: string;
  session: ReviewSession;
  change: FileChange;
}

export interface HunkNode {
  type: 'hunk';
  id: string;
  file: FileNode;
  place: Place;
}

/** The files that are not listed yet, from an index on. */
export interface MoreNode {
  type: 'more';
  id: string;
  session: ReviewSession;
  from: number;
}

export type Node = SessionNode | FileNode | HunkNode | MoreNode;

/** The rows at the top: the sessions, or the files of the only one. */
export function roots(sessions: readonly ReviewSession[]): Node[] {
  const [only] = sessions;
  if (sessions.length === 1 && only) {
    return filesOf(only, 0);
  }
  return sessions.map((session) => sessionNode({ session }));
}

/** The row of a session. */
export function sessionNode({ session }: { session: ReviewSession }): SessionNode {
  return { type: 'session', id: session.sessionId, session };
}

/** The rows below a row. */
export function children(node: Node): Node[] {
  switch (node.type) {
    case 'session':
      return filesOf(node.session, 0);
    case 'more':
      return filesOf(node.session, node.from);
    case 'file':
      return hunksOf(node);
    case 'hunk':
      return [];
  }
}

function filesOf(session: ReviewSession, from: number): Node[] {
  const rows: Node[] = session.changes
    .slice(from, from + PAGE)
    .map((change) => fileNode(session, change));
  const rest = from + PAGE;
  if (session.changes.length > rest) {
    rows.push({ type: 'more', id: `${session.sessionId} more ${rest}`, session, from: rest });
  }
  return rows;
}

/** The row of a changed file. */
export function fileNode(session: ReviewSession, change: FileChange): FileNode {
  return { type: 'file', id: `${session.sessionId} ${change.uri}`, session, change };
}

function hunksOf(file: FileNode): HunkNode[] {
  // Of what is no text there is nothing to tell a hunk by.
  const found = file.change.binary ? [] : places(file.session, file.change);
  return found
    .filter(({ gone, come }) => gone + come > 0)
    .map((place) => ({
      type: 'hunk',
      id: `${file.id} ${place.hunkId}`,
      file,
      place,
    }));
}

/** Whether files show their hunks before the user has opened them. */
export function areOpen(sessions: readonly ReviewSession[]): boolean {
  return sessions.reduce((total, { changes }) => total + changes.length, 0) <= FEW;
}

/** What the row of a session says. */
export function sessionLabel({ title, agent }: ReviewSession): string {
  return title ? `${agent}: ${unhidden(title)}` : agent;
}

/** What the row says behind which the other files are. */
export function moreLabel({ session, from }: MoreNode): string {
  return `${(session.changes.length - from).toLocaleString('en')} more files`;
}

/** What happened to a file, in one word. */
export function statusWord(change: FileChange): string {
  return isOnlyProposed(change) ? `to be ${change.status}` : change.status;
}

/** What stands behind a file's name: its folder, and what came and went. */
export function fileDescription(change: FileChange, folder: string): string {
  const { come, gone } = counts(change);
  const lines = come + gone > 0 ? `−${gone} +${come}` : '';
  const note = change.problem ? 'not shown' : change.binary ? 'not a text' : '';
  return [lines, note, folder].filter(Boolean).join('  ');
}

/** What a screen reader says of a file. */
export function fileSpoken(change: FileChange, path: string): string {
  const { come, gone } = counts(change);
  const why = change.problem ? `, ${change.problem}` : '';
  const conflicts = change.hunks.filter(({ state }) => state === 'conflict').length;
  const clash = conflicts > 0 ? `, ${conflicts} in conflict with your edits` : '';
  return (
    `${basename(path)}, ${statusWord(change)}, ${changesOf(waiting(change))}, ` +
    `${gone} lines removed, ${come} lines added${clash}${why}, ${path}`
  );
}

/** What a hunk is called: its line, counted from 1, and the first text in it. */
export function hunkLabel(place: Place, old: readonly string[], now: readonly string[]): string {
  return `${place.first + 1}: ${hunkText(place, old, now)}`;
}

function hunkText(place: Place, old: readonly string[], now: readonly string[]): string {
  const lines = place.proposed || place.kind !== 'deleted' ? [...now, ...old] : old;
  const telling = (lines.find((line) => line.trim() !== '') ?? '').trim().replace(/\s+/g, ' ');
  // A line that shows less than it has would be kept or reverted unseen.
  return shortened(unhidden(telling), 120) || 'blank lines';
}

/** What stands behind a hunk's label. */
export function hunkDescription({ gone, come, conflict }: Place): string {
  return `−${gone} +${come}${conflict ? '  you changed it too' : ''}`;
}

const SPOKEN = {
  added: 'added',
  modified: 'changed',
  deleted: 'removed',
  conflict: 'in conflict with your edits',
  proposed: 'proposed',
} as const;

/** What a screen reader says of a hunk. */
export function hunkSpoken({ kind, gone, come }: Place, label: string): string {
  return `Line ${label}, ${SPOKEN[kind]}, ${gone} lines removed, ${come} added`;
}
