import { workspace } from 'vscode';

/** How the sidecar is started. */
export interface Launch {
  command: string;
  args: string[];
  env?: NodeJS.ProcessEnv;
}

/** Finds what runs the sidecar, or null. */
export function findLaunch(): Launch | null {
  const python = workspace.getConfiguration('acp').get<string | null>('pythonPath');
  // -P: a module in the workspace folder must not be taken for the sidecar's.
  return python ? { command: python, args: ['-P', '-m', 'acp_sidecar', 'serve'] } : null;
}
