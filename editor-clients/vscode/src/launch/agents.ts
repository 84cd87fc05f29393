import { type QuickPickItem, window } from 'vscode';

import type { ListedAgent } from '../protocol.ts';
import type { Sidecar } from '../sidecar.ts';

interface Row extends QuickPickItem {
  agent: string;
}

/**
 * Lets the user pick one of the agents that the sidecar knows, with what is wrong with it.
 *
 * @returns its name, or null.
 */
export async function pickAgent(sidecar: Sidecar, placeHolder: string): Promise<string | null> {
  const agents = sidecar.command<ListedAgent[]>('acp.agent.list').then((listed) => listed.map(row));
  const chosen = await window.showQuickPick(agents, { placeHolder, matchOnDetail: true });
  return chosen?.agent ?? null;
}

function row(agent: ListedAgent): Row {
  return {
    agent: agent.name,
    label: agent.name,
    description: agent.default ? 'default' : '',
    detail: agent.problem
      ? `$(warning) ${agent.problem}`
      : (agent.description ?? agent.command ?? ''),
  };
}
