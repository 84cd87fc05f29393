/** What a line of the sidecar's standard error is to the log. */
export interface LogLine {
  level: 'error' | 'warn' | 'info' | 'debug';
  text: string;
}

const LEVELS: Record<string, LogLine['level']> = {
  DEBUG: 'debug',
  INFO: 'info',
  WARNING: 'warn',
  ERROR: 'error',
  CRITICAL: 'error',
};

/** Takes the time and the level off a line of the sidecar's; others are errors as they are. */
export function readLine(line: string): LogLine {
  const parts = /^[\d-]+ [\d:,]+ (DEBUG|INFO|WARNING|ERROR|CRITICAL) (.*)$/.exec(line);
  const level = LEVELS[parts?.[1] ?? ''];
  return level ? { level, text: parts?.[2] ?? '' } : { level: 'error', text: line };
}

/**
 * Says why a sidecar has ended.
 *
 * @param said The last lines it wrote to its standard error.
 * @param started Whether it had answered `initialize`.
 */
export function reasonOfEnd(
  code: number | null,
  signal: string | null,
  said: readonly string[],
  started: boolean,
): string {
  const how = signal === null ? `with exit code ${code ?? 'unknown'}` : `by the signal ${signal}`;
  const when = started ? '' : ' while it started';
  const last = said.filter((line) => line.trim()).at(-1);
  return `The sidecar ended${when} ${how}.${last ? ` It says: ${last.trim()}` : ''}`;
}
