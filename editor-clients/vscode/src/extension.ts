import { commands, type ExtensionContext, window, workspace } from 'vscode';

import { ChatView } from './chat/view.ts';
import { findLaunch } from './launch.ts';
import { Sessions } from './sessions.ts';
import { Sidecar } from './sidecar.ts';

let sidecar: Sidecar | null = null;

export async function activate(context: ExtensionContext): Promise<void> {
  const log = window.createOutputChannel('ACP', { log: true });
  sidecar = new Sidecar(log);
  const sessions = new Sessions(sidecar);
  const chat = new ChatView(context.extensionUri, sessions);
  context.subscriptions.push(log, sidecar, sessions, chat);
  const start = async () => {
    const launch = findLaunch();
    if (launch && sidecar && workspace.isTrusted) {
      await sidecar.start(launch);
    }
  };
  context.subscriptions.push(
    commands.registerCommand('acp.showLog', () => log.show()),
    commands.registerCommand('acp.openChat', () => commands.executeCommand('acp.chat.focus')),
    commands.registerCommand('acp.restartSidecar', start),
    workspace.onDidGrantWorkspaceTrust(start),
    commands.registerCommand('acp.newSession', async () => {
      const cwd = workspace.workspaceFolders?.[0]?.uri.fsPath;
      if (cwd) {
        await sessions.start(null, cwd);
      }
    }),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  await sidecar?.stop();
}
