import type { Range, Uri } from 'vscode';

import type { ChatParts } from './sources.ts';

/**
 * How a prompt of the active session names files, or lines of them; to be typed on behind it.
 * Waits for a sidecar that is only just starting.
 *
 * @throws the sidecar's error, for a name that no prompt can hold, say; or that it does not run
 */
export async function mention(
  { sessions, sidecar, status }: ChatParts,
  files: readonly Uri[],
  range: Range | null = null,
): Promise<string> {
  if (status.view.state === 'starting') {
    await sidecar.whenRunning();
  }
  const cwd = sessions.active?.cwd ?? null;
  const named = await Promise.all(
    files.map((file) =>
      sidecar.command<{ text: string }>('acp.prompt.mention', {
        uri: file.toString(),
        cwd,
        range: range && { start: range.start, end: range.end },
      }),
    ),
  );
  return named.map(({ text }) => `${text} `).join('');
}
