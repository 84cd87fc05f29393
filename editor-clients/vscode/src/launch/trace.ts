import {
  commands,
  type Disposable,
  StatusBarAlignment,
  type StatusBarItem,
  ThemeColor,
  Uri,
  window,
} from 'vscode';

import type { Service } from './service.ts';

/** `ACP: Record Trace`: both conversations of the sidecar, written to files while it is on. */
export class Trace implements Disposable {
  readonly #service: Service;
  readonly #item: StatusBarItem;
  readonly #command: Disposable;

  constructor(service: Service) {
    this.#service = service;
    this.#item = window.createStatusBarItem('acp.trace', StatusBarAlignment.Left);
    this.#item.name = 'ACP Recording';
    this.#item.command = 'acp.recordTrace';
    this.#item.text = '$(record) ACP Recording';
    this.#item.backgroundColor = new ThemeColor('statusBarItem.warningBackground');
    this.#command = commands.registerCommand('acp.recordTrace', () =>
      service.trace === null ? this.#begin() : this.#end(service.trace),
    );
  }

  dispose(): void {
    this.#command.dispose();
    this.#item.dispose();
  }

  async #begin(): Promise<void> {
    const choose = 'Choose a Folder…';
    const answer = await window.showWarningMessage(
      'Record what is said between VS Code, the sidecar and the agents?',
      {
        modal: true,
        detail:
          'Recordings hold what you and the agents say, and contents of your files: look into them before you share them. The sidecar and its agents are started anew; your sessions are opened again.',
      },
      choose,
    );
    if (answer !== choose) {
      return;
    }
    const [folder] =
      (await window.showOpenDialog({
        title: 'The folder for the recordings',
        openLabel: 'Record Here',
        canSelectFiles: false,
        canSelectFolders: true,
      })) ?? [];
    if (!folder) {
      return;
    }
    this.#service.trace = folder.fsPath;
    this.#item.tooltip = `Recording into ${folder.fsPath}. Click to stop.`;
    this.#item.show();
    await this.#service.restart();
  }

  async #end(folder: string): Promise<void> {
    this.#service.trace = null;
    this.#item.hide();
    await this.#service.restart();
    const show = 'Show the Folder';
    const { command, args } = this.#service.launch ?? { command: 'acp-sidecar', args: [] };
    const replay = [command, ...args, 'replay', 'FILE'].join(' ');
    const answer = await window.showInformationMessage(
      `Recorded into ${folder}. "${replay}" makes a recording readable.`,
      show,
    );
    if (answer === show) {
      await commands.executeCommand('revealFileInOS', Uri.file(folder));
    }
  }
}
