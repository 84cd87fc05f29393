import { commands, type Disposable, ProgressLocation, window, workspace } from 'vscode';

import type { Starting } from '../chat/starting.ts';
import { showError } from '../failure.ts';
import { userSettings } from '../settings.ts';
import type { Sidecar } from '../sidecar.ts';
import { pickAgent } from './agents.ts';

/**
 * Tells the sidecar of what the user changes in their own settings: no restart is needed.
 *
 * @param told Called when that is done: the agents may be others.
 */
export function tellSettings(sidecar: Sidecar, told: () => Promise<void>): Disposable {
  const read = () => userSettings(workspace.getConfiguration('acp'));
  let last = JSON.stringify(read());
  return workspace.onDidChangeConfiguration(async (event) => {
    if (!event.affectsConfiguration('acp')) {
      return;
    }
    const settings = read();
    const text = JSON.stringify(settings);
    if (text !== last) {
      last = text;
      await sidecar.notify('acp/userSettings', settings);
      await told();
    }
  });
}

/** `ACP: Restart an Agent`. */
export function registerRestartAgent(sidecar: Sidecar): Disposable {
  return commands.registerCommand('acp.restartAgent', async () => {
    try {
      const agent = await pickAgent(sidecar, 'The agent to restart: what it is doing is lost');
      if (agent === null) {
        return;
      }
      const { ended } = await window.withProgress(
        { location: ProgressLocation.Notification, title: `ACP: ending ${agent}…` },
        () => sidecar.command<{ ended: number }>('acp.agent.restart', { agent }),
      );
      void window.showInformationMessage(
        ended === 0
          ? `${agent} was not running.`
          : `${agent} was ended. It starts again with your next prompt, and takes its session up.`,
      );
    } catch (error) {
      void showError(error);
    }
  });
}

/** `ACP: Try the Demo Agent`: the chat, with a session of the agent that comes along. */
export function registerTryDemo(sidecar: Sidecar, starting: Starting): Disposable {
  return commands.registerCommand('acp.tryDemo', async () => {
    await commands.executeCommand('acp.openChat');
    // The chat says what is missing.
    if (!sidecar.running) {
      return;
    }
    try {
      await starting.start('demo');
      // What the user types next is the prompt.
      await commands.executeCommand('acp.openChat');
    } catch (error) {
      void showError(error);
    }
  });
}
