import { window } from 'vscode';

import type { Sidecar } from './sidecar.ts';
import { visibleLines } from './visible.ts';

const ERROR = 1;
const WARNING = 2;

/**
 * Shows what the sidecar tells the user (`window/showMessage`). The language client would make
 * links of what agents have written into it. Before the sidecar's first start.
 */
export function showMessages(sidecar: Sidecar): void {
  sidecar.onNotification<{ type: number; message: string }>(
    'window/showMessage',
    ({ type, message }) => {
      const text = visibleLines(message).join('\n');
      switch (type) {
        case ERROR:
          void window.showErrorMessage(text);
          break;
        case WARNING:
          void window.showWarningMessage(text);
          break;
        default:
          void window.showInformationMessage(text);
      }
    },
  );
}
