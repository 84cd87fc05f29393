import type { Terminal } from '../protocol.ts';
import { shortened, visible } from '../visible.ts';

/**
 * What to write into a terminal so that it shows the new output after the old one. Each is
 * plain text, the later one mostly the earlier one with more at its end; where only an end of
 * the output is sent, it may begin later.
 *
 * @returns null where the new one does not go on from the old one.
 */
export function continuation(old: string, now: string): string | null {
  if (now.startsWith(old)) {
    return now.slice(old.length);
  }
  const start = now.slice(0, 256);
  if (start.length === 256) {
    const at = old.indexOf(start);
    if (at > 0 && now.startsWith(old.slice(at))) {
      return now.slice(old.length - at);
    }
  }
  return null;
}

/** Output as a terminal wants it: it goes to the next line and to its beginning. */
export function toTerminal(text: string): string {
  return text.replaceAll(/\r?\n/g, '\r\n');
}

/** How a command has ended. A signal is what the agent calls it: no escape sequence gets through. */
export function howItEnded({ exitCode, signal }: NonNullable<Terminal['exitStatus']>): string {
  return exitCode === null
    ? `was ended by ${shortened(visible(signal ?? 'a signal'), 40)}`
    : `has ended with exit code ${exitCode}`;
}
