import type { WorkspaceConfiguration } from 'vscode';

/** The settings that the sidecar has, by the dotted name that both sides use. */
export const SIDECAR_SETTINGS = [
  'defaultAgent',
  'protocolVersions',
  'follow.enabled',
  'follow.maxPerSecond',
  'review.mode',
  'review.unannounced',
  'reportReverts',
  'terminals.enabled',
  'terminals.outsideRoots',
  'terminals.maxOutputBytes',
  'timeouts.initialize',
  'timeouts.cancel',
  'timeouts.dialogReminder',
  'limits.lineBytes',
  'mcpEditorTools',
] as const;

/** Settings that decide which command runs: taken from the user's own settings alone. */
export const USER_ONLY = ['agents', 'registry.source', 'registry.allow', 'mcpServers'] as const;

/** The part of VS Code's `WorkspaceConfiguration` that is needed. */
export type Configuration = Pick<WorkspaceConfiguration, 'inspect'>;

/**
 * What `workspace/configuration` answers: only what somebody has set. A default of this
 * extension's must not win over the user's `config.toml`.
 */
export function configuration(acp: Configuration): object {
  return collect(SIDECAR_SETTINGS, (name) => {
    const set = acp.inspect(name);
    return set?.workspaceFolderValue ?? set?.workspaceValue ?? set?.globalValue;
  });
}

/** `initializationOptions`: what the user has set, nothing that a workspace has. */
export function userSettings(acp: Configuration): object {
  return collect([...SIDECAR_SETTINGS, ...USER_ONLY], (name) => acp.inspect(name)?.globalValue);
}

function collect(names: readonly string[], valueOf: (name: string) => unknown): object {
  const found: Record<string, unknown> = {};
  for (const name of names) {
    const value = valueOf(name);
    if (value !== undefined && value !== null) {
      place(found, name.split('.'), value);
    }
  }
  return found;
}

function place(into: Record<string, unknown>, path: string[], value: unknown): void {
  const [first, ...rest] = path;
  if (first === undefined) {
    return;
  }
  if (rest.length === 0) {
    into[first] = value;
    return;
  }
  const inner = (into[first] ?? {}) as Record<string, unknown>;
  into[first] = inner;
  place(inner, rest, value);
}
