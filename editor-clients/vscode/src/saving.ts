import { type TextDocument, Uri, workspace } from 'vscode';

import type { Sidecar } from './sidecar.ts';

/** Milliseconds more than VS Code waits by itself before it saves. */
const LATER = 500;

/**
 * Answers `acp/save`: the user has agreed that this file is saved before a command runs; and
 * saves again (`acp/saveAgain`) what VS Code would have saved by itself. Before the sidecar's
 * first start.
 */
export function saveForAgents(sidecar: Sidecar): void {
  sidecar.onRequest<{ uri: string }, { saved: boolean }>('acp/save', async ({ uri }) => {
    const document = documentOf(uri);
    if (!document?.isDirty || document.isUntitled) {
      // One without a name would ask for it.
      return { saved: document?.isDirty === false };
    }
    // False too where the file has changed on the disk: VS Code asks the user then.
    return { saved: await document.save() };
  });
  const waiting = new Map<string, NodeJS.Timeout>();
  sidecar.onNotification<{ uri: string }>('acp/saveAgain', ({ uri }) => {
    const files = workspace.getConfiguration('files', Uri.parse(uri));
    if (files.get('autoSave') !== 'afterDelay') {
      return;
    }
    // One that it was once refused to save VS Code does not save by itself any more. It is not asked
    // whether it is dirty: after a saving that was typed into, extensions are told that it is not.
    const again = () => {
      waiting.delete(uri);
      void documentOf(uri)?.save();
    };
    clearTimeout(waiting.get(uri));
    waiting.set(uri, setTimeout(again, files.get('autoSaveDelay', 1000) + LATER));
  });
}

/** By the URI as VS Code writes it, which is how the sidecar names what is open. */
function documentOf(uri: string): TextDocument | undefined {
  return workspace.textDocuments.find((each) => each.uri.toString() === uri);
}
