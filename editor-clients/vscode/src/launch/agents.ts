import { type QuickPickItem, window } from 'vscode';

import { showError } from '../failure.ts';
import type { ListedAgent } from '../protocol.ts';
import type { Sidecar } from '../sidecar.ts';
import { rowText } from '../visible.ts';

interface Row extends QuickPickItem {
  agent: string;
}

/**
 * Lets the user pick one of the agents that the sidecar knows, with what is wrong with it. A
 * failure is shown.
 *
 * @param isOffered Which of them can be picked.
 * @returns its name, or null.
 */
export async function pickAgent(
  sidecar: Sidecar,
  title: string,
  isOffered: (agent: ListedAgent) => boolean = () => true,
): Promise<string | null> {
  const rows = async () => {
    await sidecar.whenRunning();
    const listed = await sidecar.command<ListedAgent[]>('acp.agent.list');
    return listed.filter(isOffered).map(row);
  };
  try {
    const options = { title, matchOnDetail: true, ignoreFocusOut: true };
    return (await window.showQuickPick(rows(), options))?.agent ?? null;
  } catch (error) {
    void showError(error);
    return null;
  }
}

function row(agent: ListedAgent): Row {
  const { problem } = agent;
  return {
    agent: agent.name,
    label: rowText(agent.name),
    description: agent.default ? 'default' : '',
    detail: problem
      ? `$(warning) ${rowText(problem)}`
      : rowText(agent.description ?? agent.command ?? ''),
  };
}
