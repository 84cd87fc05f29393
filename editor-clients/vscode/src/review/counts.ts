/** Counts of what waits for review, in words. */

/** "1 change", "3 changes". */
export function changes(count: number): string {
  return count === 1 ? '1 change' : `${count.toLocaleString('en')} changes`;
}

/** "1 file", "3 files". */
export function files(count: number): string {
  return count === 1 ? '1 file' : `${count.toLocaleString('en')} files`;
}
