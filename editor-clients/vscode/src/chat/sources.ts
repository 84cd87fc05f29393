import type { Event, LogOutputChannel, Memento, Uri } from 'vscode';

import type { Question } from '../protocol.ts';
import type { Elicitations } from '../questions/elicitation.ts';
import type { Questions } from '../questions/questions.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { Sidecar } from '../sidecar.ts';
import type { SidecarView } from './messages.ts';

/** Whether there is a sidecar to talk to. */
export interface SidecarStatus {
  readonly view: SidecarView;
  readonly onDidChange: Event<unknown>;
}

/** The agents to choose from for a session, the default first. */
export interface AgentNames {
  names(): string[];
  readonly onDidChange: Event<unknown>;
}

/** Shows in the editor what is asked about. */
export interface QuestionPreview {
  open(question: Question): unknown;
}

/** The commands of the agents. */
export interface TerminalOutputs {
  /** Shows what one has written. */
  open(sessionId: string, terminalId: string): unknown;
  kill(sessionId: string, terminalId: string): unknown;
}

/** What the chat is made from. */
export interface ChatParts {
  extensionUri: Uri;
  workspaceState: Pick<Memento, 'get' | 'update'>;
  log: LogOutputChannel;
  sidecar: Sidecar;
  sessions: Sessions;
  status: SidecarStatus;
  agents: AgentNames;
  questions: Questions;
  forms: Elicitations;
  preview: QuestionPreview;
  terminals: TerminalOutputs;
}
