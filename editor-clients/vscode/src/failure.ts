import { commands, window } from 'vscode';

import { withoutLinks } from './visible.ts';

/** What an error says; those of the sidecar are sentences made for the user. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Shows an error, and leads to the log. */
export async function showError(error: unknown): Promise<void> {
  const log = 'Show Log';
  if ((await window.showErrorMessage(withoutLinks(messageOf(error)), log)) === log) {
    await commands.executeCommand('acp.showLog');
  }
}
