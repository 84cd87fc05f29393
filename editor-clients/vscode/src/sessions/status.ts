import type { SessionStatus } from '../protocol.ts';

/** Whether the agent of a session is at work, or waits for an answer in the midst of it. */
export function inTurn(status: SessionStatus | null | undefined): boolean {
  return status === 'running' || status === 'requires_action';
}

/** What a session does, in words. */
export const STATUS_WORDS: Readonly<Record<SessionStatus, string>> = {
  idle: 'idle',
  running: 'at work',
  requires_action: 'waits for you',
  closed: 'closed',
  dead: 'the agent is gone',
};
