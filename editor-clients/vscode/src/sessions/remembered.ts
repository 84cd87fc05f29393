import type { Remembered } from './sessions.ts';

/** Reads what an earlier window has kept; what is no session is left out. */
export function readRemembered(kept: unknown): Remembered[] {
  return Array.isArray(kept) ? kept.flatMap(one) : [];
}

function one(value: unknown): Remembered[] {
  const { agent, agentSessionId, cwd, title, active } = (value ?? {}) as Record<string, unknown>;
  return typeof agent === 'string' && typeof agentSessionId === 'string' && typeof cwd === 'string'
    ? [
        {
          agent,
          agentSessionId,
          cwd,
          title: typeof title === 'string' ? title : null,
          active: active === true,
        },
      ]
    : [];
}
