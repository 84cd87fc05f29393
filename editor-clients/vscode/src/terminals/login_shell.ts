/**
 * VS Code closes a terminal with its process, and with it what a failed login has said: the
 * shell around the command waits for a key then. The exit code stays the command's.
 */
const SCRIPT = [
  'trap : INT',
  '"$@"',
  'code=$?',
  '[ "$code" -eq 0 ] && exit 0',
  String.raw`printf '\n[%s has ended with exit code %d. Press Enter to close this terminal.]\n' "$1" "$code"`,
  'read -r _',
  'exit "$code"',
].join('\n');

/** How a terminal runs a login command so that its end can be read. */
export function loginShell(
  command: string,
  args: string[],
  platform: NodeJS.Platform,
): { shellPath: string; shellArgs: string[] } {
  return platform === 'win32'
    ? { shellPath: command, shellArgs: args }
    : { shellPath: '/bin/sh', shellArgs: ['-c', SCRIPT, 'login', command, ...args] };
}
