import { window } from 'vscode';
import { MessageType } from 'vscode-languageclient/node';

import type { Sidecar } from './sidecar.ts';
import { visibleLines } from './visible.ts';

/**
 * Shows what the sidecar tells the user (`window/showMessage`). The language client would make
 * links of what agents have written into it. Before the sidecar's first start.
 */
export function showMessages(sidecar: Sidecar): void {
  sidecar.onNotification<{ type: MessageType; message: string }>(
    'window/showMessage',
    ({ type, message }) => {
      const text = visibleLines(message).join('\n');
      switch (type) {
        case MessageType.Error:
          void window.showErrorMessage(text);
          break;
        case MessageType.Warning:
          void window.showWarningMessage(text);
          break;
        default:
          void window.showInformationMessage(text);
      }
    },
  );
}
