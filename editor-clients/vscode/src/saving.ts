import { workspace } from 'vscode';

import type { Sidecar } from './sidecar.ts';

/**
 * Answers `acp/save`: the user has agreed that this file is saved before a command runs.
 * Before the sidecar's first start.
 */
export function saveForAgents(sidecar: Sidecar): void {
  sidecar.onRequest<{ uri: string }, { saved: boolean }>('acp/save', async ({ uri }) => {
    const document = workspace.textDocuments.find((each) => each.uri.toString() === uri);
    if (!document?.isDirty || document.isUntitled) {
      // One without a name would ask for it.
      return { saved: document?.isDirty === false };
    }
    // False too where the file has changed on the disk: VS Code asks the user then.
    return { saved: await document.save() };
  });
}
