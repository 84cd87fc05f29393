/**
 * What is said between the extension and the chat in its webview. The extension has the
 * truth; the chat draws it, and can be thrown away and made again at any moment.
 */

import type {
  Command,
  Completion,
  ConfigOption,
  Elicitation,
  ElicitationAnswer,
  EntryBlock,
  Follow,
  Modes,
  Question,
  QueuedPrompt,
  SessionStatus,
  TerminalUpdate,
  Usage,
} from '../protocol.ts';

/** One session, without its blocks. */
export interface SessionView {
  sessionId: string;
  agent: string;
  /** The folder the agent works in. */
  cwd: string;
  /** What it is called; null as long as there is nothing to call it by. */
  title: string | null;
  status: SessionStatus;
  stopReason: string | null;
  /** What the sidecar says of how the turn ended; null where it just ended. */
  stopText: string | null;
  queue: QueuedPrompt[];
  usage: Usage | null;
  modes: Modes | null;
  configOptions: ConfigOption[];
  commands: Command[];
  follow: Follow | null;
  /** Hunks that wait for review. */
  changes: number;
  /** Set while the session is not open yet again; why it could not be opened is `problem`. */
  asleep?: { problem: string | null } | null;
}

/** Whether there is a sidecar to talk to, and what the user can do where there is none. */
export type SidecarView =
  | { state: 'running' }
  /** `message` says what takes long, if it does. */
  | { state: 'starting'; message?: string }
  | { state: 'untrusted' }
  | { state: 'noFolder' }
  | { state: 'missing'; reason: string }
  | { state: 'failed'; reason: string };

/** All that the chat draws except blocks and terminals. */
export interface ChatState {
  sidecar: SidecarView;
  sessions: SessionView[];
  /** The session that is drawn. */
  active: string | null;
  /** Agents that can be chosen for a new session, the default first. */
  agents: string[];
  /** All questions that wait, of all sessions, oldest first. */
  questions: Question[];
  /** All forms that wait. */
  elicitations: Elicitation[];
  followEnabled: boolean;
  /** The agent that is being started for a session, if one is. */
  starting?: string | null;
}

/** The state, sent whenever it changes; what is asked can be large: left out while it is the same. */
export type ChatNews = Omit<ChatState, Asked> & Partial<Pick<ChatState, Asked>>;
type Asked = 'questions' | 'elicitations';

/** A picture that was pasted: base64 without a prefix. */
export interface PastedImage {
  mimeType: string;
  data: string;
}

/** What the user has typed in a session and not sent. */
export interface Draft {
  text: string;
  images: PastedImage[];
}

export type ToChat =
  | { type: 'state'; state: ChatNews }
  /** Blocks to add or to replace by id; with `reset` they are all there are. */
  | { type: 'blocks'; sessionId: string; blocks: EntryBlock[]; reset: boolean }
  | { type: 'terminal'; terminal: TerminalUpdate }
  | { type: 'completions'; id: number; items: Completion[] }
  /** Puts a text into the prompt, at its end. */
  | { type: 'insert'; text: string }
  /** Replaces the prompt: what was there before a reload. */
  | { type: 'draft'; sessionId: string | null; draft: Draft }
  /** Puts what could not be sent in front of what is typed. */
  | { type: 'putBack'; sessionId: string | null; draft: Draft }
  /** A session has been opened again and is called otherwise now. */
  | { type: 'superseded'; sessionId: string; by: string }
  | { type: 'focusPrompt' }
  /** Scrolls to a question and puts the focus on its card, on none of its buttons. */
  | { type: 'showQuestion'; requestId: string };

export type FromChat =
  | { type: 'ready' }
  /** Without a session one is made first. */
  | {
      type: 'prompt';
      sessionId: string | null;
      /** The agent of a session that is made for it; null for the default one. */
      agent: string | null;
      text: string;
      images: PastedImage[];
    }
  | { type: 'cancel'; sessionId: string }
  | { type: 'editQueued'; sessionId: string; turnId: string; text: string }
  | { type: 'dropQueued'; sessionId: string; turnId: string }
  | { type: 'setMode'; sessionId: string; modeId: string }
  | { type: 'setConfigOption'; sessionId: string; configId: string; value: string | boolean }
  /** Null gives no answer. */
  | { type: 'answer'; requestId: string; optionId: string | null }
  | { type: 'answerForm'; requestId: string; answer: ElicitationAnswer }
  /** Details of a question in the editor: its diffs, side by side. */
  | { type: 'previewQuestion'; requestId: string }
  | { type: 'openPath'; sessionId: string; path: string; line: number | null }
  | { type: 'openDiff'; sessionId: string; toolCallId: string; index: number }
  /** Only addresses of the web. */
  | { type: 'openLink'; href: string }
  | { type: 'copy'; text: string }
  | { type: 'complete'; id: number; sessionId: string | null; text: string; cursor: number }
  | { type: 'openTerminal'; sessionId: string; terminalId: string }
  | { type: 'killTerminal'; sessionId: string; terminalId: string }
  | { type: 'cancelToolCall'; sessionId: string; toolCallId: string }
  | { type: 'newSession'; agent: string | null }
  | { type: 'cancelStart' }
  | { type: 'selectSession'; sessionId: string }
  | { type: 'closeSession'; sessionId: string }
  /** Opens a session again for which that has failed. */
  | { type: 'wake'; sessionId: string }
  | { type: 'showHistory' }
  | { type: 'openChanges'; sessionId: string }
  | { type: 'toggleFollow' }
  /** The user's keys go to the chat, or no longer do. */
  | { type: 'focus'; has: boolean }
  /** Files that were dropped on the prompt, to be named in it. */
  | { type: 'addFiles'; uris: string[] }
  | { type: 'draft'; sessionId: string | null; draft: Draft }
  /** One of the extension's own commands that the chat has a button for. */
  | { type: 'run'; command: ChatCommand };

/** The commands that the page may have run: it is not to be believed, so no others are. */
export const CHAT_COMMANDS = [
  'acp.makeEnvironment',
  'acp.choosePython',
  'acp.restartSidecar',
  'acp.showLog',
  'acp.doctor',
  'acp.tryDemo',
  'acp.showQuestions',
  'workbench.trust.manage',
  'workbench.action.files.openFolder',
] as const;

export type ChatCommand = (typeof CHAT_COMMANDS)[number];
