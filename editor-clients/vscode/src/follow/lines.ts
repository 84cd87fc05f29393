/** The line after a change, of one that stood at `line`. Lines count from 0. */
export function lineAfter(
  line: number,
  change: { startLine: number; endLine: number; text: string },
): number {
  const { startLine, endLine, text } = change;
  if (startLine > line) {
    return line;
  }
  const added = text.split('\n').length - 1;
  return endLine <= line ? line + added - (endLine - startLine) : startLine;
}
