import type { Completion } from '../src/protocol.ts';

/** A text and where its cursor stands, in UTF-16 units. */
export interface Typed {
  text: string;
  cursor: number;
}

/** The text with a completion in its place, the cursor behind it. */
export function completed({ text }: Typed, item: Completion): Typed {
  const start = Math.min(Math.max(item.start, 0), text.length);
  const end = Math.min(Math.max(item.end, start), text.length);
  return {
    text: text.slice(0, start) + item.text + text.slice(end),
    cursor: start + item.text.length,
  };
}

/** Whether something may follow at the cursor; what, only the sidecar knows. */
export function completable({ text, cursor }: Typed): boolean {
  const before = text.slice(0, cursor);
  return /^\s*\/\S*$/u.test(before) || /@(?:"[^"\n]*|\S*)$/u.test(before);
}
