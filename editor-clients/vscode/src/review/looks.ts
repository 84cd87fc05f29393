/** How a hunk is drawn in an editor, and on which lines. */

import { shortened } from '../visible.ts';
import type { Place } from './changes.ts';
import { splitLines } from './markdown.ts';

/**
 * `created` are lines of a file that is new as a whole, `deletedAbove` and `deletedBelow` the
 * places where lines were, `insertAbove` and `insertBelow` those where some would come.
 */
export const LOOKS = [
  'added',
  'created',
  'modified',
  'deletedAbove',
  'deletedBelow',
  'conflict',
  'conflictAbove',
  'conflictBelow',
  'proposed',
  'insertAbove',
  'insertBelow',
] as const;

export type Look = (typeof LOOKS)[number];

export interface Drawn {
  look: Look;
  /** 0-based lines, both included. */
  from: number;
  to: number;
}

/** `lineCount` is VS Code's: the empty line behind the last line end counts. */
export function drawn(place: Place, lineCount: number, isCreated: boolean): Drawn {
  const last = Math.max(0, lineCount - 1);
  if (place.count === 0) {
    const isBelow = place.first > last;
    const at = Math.min(place.first, last);
    return { look: between(place, isBelow), from: at, to: at };
  }
  const from = Math.min(place.first, last);
  const to = Math.min(place.first + place.count - 1, last);
  return { look: lookOf(place, isCreated), from, to };
}

function lookOf({ kind, proposed }: Place, isCreated: boolean): Look {
  switch (kind) {
    case 'conflict':
      return 'conflict';
    case 'proposed':
      return 'proposed';
    case 'added':
      return isCreated ? 'created' : 'added';
    case 'modified':
    case 'deleted':
      return proposed ? 'proposed' : 'modified';
  }
}

function between({ kind }: Place, isBelow: boolean): Look {
  if (kind === 'conflict') {
    return isBelow ? 'conflictBelow' : 'conflictAbove';
  }
  if (kind === 'proposed') {
    return isBelow ? 'insertBelow' : 'insertAbove';
  }
  return isBelow ? 'deletedBelow' : 'deletedAbove';
}

/** What stands behind the lines of a proposed hunk. */
export function proposal(place: Place): string {
  const lines = splitLines(place.text ?? '');
  const [first] = lines;
  if (first === undefined) {
    return '✕ would be removed';
  }
  const more = lines.length > 1 ? ` … (+${lines.length} lines)` : '';
  return `➜ ${shortened(first.trim(), 100)}${more}`;
}

const SHAPES = {
  // A bar, at its full height whatever the line's.
  bar: '<rect x="6" width="3" height="16"/>',
  stripes:
    '<path d="M6 0h3v3H6zM6 5h3v3H6zM6 10h3v3H6z"/><path d="M6 3h3v2H6zM6 8h3v2H6zM6 13h3v3H6z" opacity=".55"/>',
  above: '<path d="M3 0h10L8 5z"/>',
  below: '<path d="M3 16h10l-5-5z"/>',
  clash: '<path d="M6.5 1h3l-.5 9H7zM8 12a1.4 1.4 0 1 1 0 2.8A1.4 1.4 0 0 1 8 12z"/>',
  dots: '<path d="M6 1h3v3H6zM6 6.500h3v3H6zM6 12h3v3H6z"/>',
} as const;

const SHAPE_OF: Readonly<Record<Look, keyof typeof SHAPES>> = {
  added: 'bar',
  created: 'bar',
  modified: 'stripes',
  deletedAbove: 'above',
  deletedBelow: 'below',
  conflict: 'clash',
  conflictAbove: 'clash',
  conflictBelow: 'clash',
  proposed: 'dots',
  insertAbove: 'dots',
  insertBelow: 'dots',
};

/** The mark in the gutter: shapes differ, not only colours. */
export function gutterIcon(look: Look, color: string): string {
  const svg =
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16" preserveAspectRatio="none" ' +
    `width="16" height="16" fill="${color}">${SHAPES[SHAPE_OF[look]]}</svg>`;
  return `data:image/svg+xml;base64,${btoa(svg)}`;
}
