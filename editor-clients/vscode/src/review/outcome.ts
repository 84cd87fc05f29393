/** What came of a keep, a revert, an undo or a restore, in words. */

import type { ReviewStep } from '../protocol.ts';

export type Step = 'keep' | 'revert' | 'undo' | 'restore';

export interface Report {
  text: string;
  /** Whether something of what was asked for was not done. */
  isPartial: boolean;
}

/** The outcome of a step that was not taken. */
export function nothing(): ReviewStep {
  return { kept: [], reverted: [], conflicts: [], problems: [] };
}

/** Both together: several commands may be one step for the user. */
export function joined(one: ReviewStep, other: ReviewStep): ReviewStep {
  return {
    kept: [...one.kept, ...other.kept],
    reverted: [...one.reverted, ...other.reverted],
    conflicts: [...one.conflicts, ...other.conflicts],
    problems: [...one.problems, ...other.problems],
  };
}

/** Whether anything is another than before. */
export function didSomething(outcome: ReviewStep): boolean {
  return outcome.kept.length + outcome.reverted.length > 0;
}

/** Sentences that tell the user; conflicts and problems come with what to do about them. */
export function report(step: Step, outcome: ReviewStep): Report {
  const { kept, reverted, conflicts, problems } = outcome;
  const said: string[] = [];
  if (kept.length > 0) {
    said.push(
      step === 'undo'
        ? `${changes(kept.length)} ${wait(kept.length)} again.`
        : `Kept ${changes(kept.length)}.`,
    );
  }
  if (reverted.length > 0) {
    said.push(
      step === 'undo'
        ? `Brought ${changes(reverted.length)} back.`
        : `${step === 'restore' ? 'Restored' : 'Reverted'} ${changes(reverted.length)}.`,
    );
  }
  if (conflicts.length > 0) {
    const rest = conflicts.length === 1 ? 'it stays as it is' : 'they stay as they are';
    said.push(`You have edited the same lines as ${changes(conflicts.length)}: ${rest}.`);
  }
  said.push(...problems.map(sentence));
  return {
    text: said.length > 0 ? said.join(' ') : NOTHING[step],
    isPartial: conflicts.length + problems.length > 0,
  };
}

const NOTHING: Record<Step, string> = {
  keep: 'There is nothing to keep here.',
  revert: 'There is nothing to revert here.',
  undo: 'There is nothing to undo.',
  restore: 'The files are as they were then.',
};

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** "1 change", "3 changes". */
export function changes(count: number): string {
  return count === 1 ? '1 change' : `${count.toLocaleString('en')} changes`;
}

/** "1 file", "3 files". */
export function files(count: number): string {
  return count === 1 ? '1 file' : `${count.toLocaleString('en')} files`;
}

function wait(count: number): string {
  return count === 1 ? 'waits' : 'wait';
}
