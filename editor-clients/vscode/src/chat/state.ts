import type { SessionStatus } from '../protocol.ts';
import { waitingIn } from '../review/changes.ts';
import type { Session } from '../sessions/sessions.ts';
import type { ChatNews, SessionView, SidecarView } from './messages.ts';

/** What the chat's state is made of. */
export interface ChatSources {
  sidecar: SidecarView;
  sessions: Session[];
  active: string | null;
  agents: string[];
  /** Whether places are followed, as long as no session says so. */
  follows: boolean;
  /** The agent that is being started, if one is. */
  starting: string | null;
}

/** All that the chat draws except blocks, terminals and what is asked. */
export function chatState(from: ChatSources): ChatNews {
  const follow = from.sessions.find((session) => session.follow)?.follow;
  return {
    sidecar: from.sidecar,
    sessions: from.sessions.map(sessionView),
    active: from.active,
    agents: from.agents,
    followEnabled: follow?.enabled ?? from.follows,
    starting: from.starting,
  };
}

/** One session, without its blocks. */
function sessionView(session: Session): SessionView {
  const { status } = session;
  return {
    sessionId: session.sessionId,
    agent: session.agent,
    cwd: session.cwd,
    title: titleOf(session),
    status: statusOf(session),
    asleep: session.asleep && { problem: session.asleep.problem },
    stopReason: status?.stopReason ?? null,
    stopText: status?.stopText ?? null,
    queue: status?.queue ?? [],
    usage: status?.usage ?? null,
    modes: status?.modes ?? null,
    configOptions: status?.configOptions ?? [],
    commands: session.commands,
    follow: session.follow,
    changes: waitingIn([session]),
  };
}

/** What a session does: one that sleeps is closed. */
export function statusOf({ asleep, status }: Session): SessionStatus {
  return asleep ? 'closed' : (status?.status ?? 'idle');
}

/** What the sidecar calls a session, or called it when it was open last. */
export function titleOf({ status, asleep }: Session): string | null {
  return status?.title ?? asleep?.title ?? null;
}
