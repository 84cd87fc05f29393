/**
 * What is said between the sidecar and its editor client, as far as it is not LSP.
 * The page docs/protocol.md of the project describes each of these.
 */

export interface Position {
  line: number;
  character: number;
}

export interface Range {
  start: Position;
  end: Position;
}

/** An ACP content block: what it is stands in `type`. */
export type ContentBlock =
  | { type: 'text'; text: string }
  | { type: 'image'; data: string; mimeType: string; uri?: string | null }
  | { type: 'audio'; data: string; mimeType: string }
  | { type: 'resource_link'; uri: string; name: string; title?: string | null }
  | {
      type: 'resource';
      resource: { uri: string; text?: string; blob?: string; mimeType?: string | null };
    };

/** A path as the agent said it, `line` counts from 1. */
export interface Location {
  path: string;
  line: number | null;
}

/** A command of the agent's that runs or ran. */
export interface Terminal {
  terminalId: string;
  command: string | null;
  cwd: string | null;
  output: string;
  truncated: boolean;
  exitStatus: { exitCode: number | null; signal: string | null } | null;
  capabilities?: { cancel?: unknown } | null;
}

/** One file of a v2 agent's diff: `add`, `delete`, `modify`, `move`, `copy` or another word. */
export interface ChangedFile {
  operation?: string;
  path?: string;
  oldPath?: string | null;
  fileType?: string | null;
}

/** One item of a tool call's `content`. A v2 agent gives `changes` and `patch` for a diff. */
export type ToolCallContent =
  | { type: 'content'; content: ContentBlock }
  | {
      type: 'diff';
      path?: string;
      oldText?: string | null;
      newText?: string;
      changes?: ChangedFile[];
      patch?: { format?: string; text?: string } | null;
    }
  | { type: 'terminal'; terminalId: string; terminal?: Terminal | null };

export interface MessageBlock {
  id: string;
  kind: 'message';
  messageId: string;
  role: 'user' | 'agent' | 'thought';
  content: ContentBlock[];
  turn: number;
  truncated?: boolean;
}

export interface ToolCallBlock {
  id: string;
  kind: 'toolCall';
  toolCallId: string;
  /** What the agent calls it; some never say. */
  title: string | null;
  name: string | null;
  /** ACP's tool kind: read, edit, delete, move, search, execute, think, fetch, other … */
  toolKind: string;
  /** pending, in_progress, completed, failed, cancelled … */
  status: string;
  content: ToolCallContent[];
  locations: Location[];
  /** The command line that the input names. */
  command: string | null;
  rawInput: unknown;
  rawOutput: unknown;
  turn: number;
  closedBy: string | null;
  background: boolean;
  capabilities: { cancel?: unknown } | null;
  /** Whether `acp.toolCall.cancel` takes it now. */
  cancellable: boolean;
  truncated?: boolean;
}

export interface PlanBlock {
  id: string;
  kind: 'plan';
  planId: string;
  entries: { content: string; priority: string | null; status: string | null }[];
}

export interface PermissionOption {
  optionId: string;
  name: string;
  kind: string | null;
  title?: string;
}

/** A question in the conversation; what can be answered is the `Question` of that id. */
export interface PermissionBlock {
  id: string;
  kind: 'permission';
  requestId: string;
  toolCallId: string | null;
  headline: string;
  message: string;
  options: PermissionOption[];
  state: 'waiting' | 'answered' | 'cancelled';
  optionId: string | null;
  /** Whether what became of it is a no; null while it waits. */
  rejected: boolean | null;
  title: string | null;
  description: string | null;
  subject: unknown;
  turn: number;
}

export interface ElicitationBlock {
  id: string;
  kind: 'elicitation';
  requestId: string;
  toolCallId: string | null;
  mode: 'form' | 'url';
  message: string;
  requestedSchema: unknown;
  url: string | null;
  state: string;
  action: string | null;
  completed: boolean;
  turn: number;
}

export interface NoticeBlock {
  id: string;
  kind: 'notice';
  noticeId: string;
  severity: string;
  title: string | null;
  description: string | null;
}

export interface CompactionBlock {
  id: string;
  kind: 'compaction';
  compactionId: string;
  status: string | null;
  summary: string | null;
  error: unknown;
}

export interface Modes {
  currentModeId: string;
  availableModes: { id: string; name: string; description?: string | null }[];
}

export interface ConfigChoice {
  value: string;
  name: string;
  description?: string | null;
}

export interface ConfigOption {
  id: string;
  name: string;
  description?: string | null;
  category?: string | null;
  type: string;
  currentValue: string | boolean;
  /** Choices, or groups of choices. */
  options?: (ConfigChoice | { group: string; name: string; options: ConfigChoice[] })[];
}

export interface Command {
  name: string;
  description?: string | null;
  input?: { hint?: string } | null;
}

export interface QueuedPrompt {
  turnId: string;
  text: string;
}

export interface Usage {
  used: number | null;
  size: number | null;
  cost: { amount: number; currency: string } | null;
}

export type SessionStatus = 'idle' | 'running' | 'requires_action' | 'closed' | 'dead';

/** What stands beside the conversation: the one block of the id `status`. */
export interface StatusBlock {
  id: 'status';
  kind: 'status';
  agent?: string;
  agentSessionId?: string;
  cwd?: string;
  status: SessionStatus;
  stopReason: string | null;
  /** What to say of how the turn ended, safe to show; null where it just ended. */
  stopText: string | null;
  queue: QueuedPrompt[];
  title: string | null;
  usage: Usage | null;
  modes: Modes | null;
  configOptions: ConfigOption[];
  commands?: Command[];
}

export type EntryBlock =
  | MessageBlock
  | ToolCallBlock
  | PlanBlock
  | PermissionBlock
  | ElicitationBlock
  | NoticeBlock
  | CompactionBlock;

export type Block = EntryBlock | StatusBlock;

/** `acp/transcript`, and what `acp/transcript/snapshot` answers for a session. */
export interface Transcript {
  sessionId: string;
  blocks: Block[];
}

/** What `acp.session.new`, `.load`, `.resume` and `.fork` answer. */
export interface OpenedSession {
  sessionId: string;
  agentSessionId: string;
  agent: string;
  protocolVersion: number;
  modes: Modes | null;
  configOptions: ConfigOption[];
  commands: Command[];
  interrupted?: boolean;
  unsent?: { text: string; content?: ContentBlock[] }[];
  /** Nothing had been said in the one that was to be opened again: this is another in its place. */
  new?: boolean;
}

/** `acp/reveal`: a place to show beside the user's. */
export interface Reveal {
  sessionId: string;
  toolCallId: string | null;
  uri: string;
  selection: Range | null;
  kind: string | null;
}

export interface Revealed {
  shown: boolean;
  reason?: string;
}

/** `acp/follow`: where the agent is; `line` counts from 1. */
export interface Follow {
  sessionId: string;
  enabled: boolean;
  paused: boolean;
  location: Location | null;
  shown: boolean;
  reason: string | null;
}

export interface UserActivity {
  uri: string;
  kind: 'edit' | 'scroll' | 'select' | 'switch';
}

/** Lines of a text: `start` counts from 0. */
export interface Lines {
  start: number;
  lines: number;
}

export interface Hunk {
  id: string;
  before: Lines;
  after: Lines;
  state: 'waiting' | 'conflict';
}

export interface ProposedHunk {
  id: string;
  before: Lines;
  after: Lines;
  text: string;
  state: 'proposed' | 'kept' | 'refused' | 'conflict';
}

export interface FileChange {
  uri: string;
  status: 'modified' | 'created' | 'deleted' | 'renamed';
  oldUri: string | null;
  binary: boolean;
  hunks: Hunk[];
  proposed?: ProposedHunk[];
  problem?: string | null;
}

/** `acp/changes`. */
export interface Changes {
  sessionId: string;
  changes: FileChange[];
}

/** What `acp.review.next` answers. */
export interface NextHunk {
  sessionId: string;
  uri: string;
  hunkId: string;
  range: Range;
  /** Which one it is, from 1, of how many. */
  number: number;
  of: number;
}

/** What `acp.review.keep`, `.revert`, `.undo` and `acp.checkpoint.restore` answer. */
export interface ReviewStep {
  kept: string[];
  reverted: string[];
  conflicts: string[];
  problems: string[];
  /** All of it in words that are safe to show. */
  text: string;
  /** Whether something of what was asked for was not done. */
  partial: boolean;
  /** What takes it back: the `targets` of an `acp.review.undo`; empty where nothing was done. */
  undo: { sessionId: string }[];
}

export interface Checkpoint {
  checkpointId: string;
  turn: number;
  /** Seconds since 1970. */
  time: number;
  label: string;
}

/** What `acp.checkpoint.preview` answers; `created` ones return. */
export interface CheckpointPreview {
  files: { uri: string; change: 'modified' | 'created' | 'deleted' }[];
  conflicts: string[];
  problems: string[];
}

export interface QuestionDiff {
  path: string;
  oldText: string | null;
  newText: string;
  whole: boolean;
  summary: string;
}

/** Something to know of a question: `text` is all of it, as a line. */
export interface QuestionFact {
  kind:
    | 'folder'
    | 'path'
    | 'arguments'
    | 'explanation'
    | 'host'
    | 'address'
    | 'message'
    | 'warning'
    | 'text';
  text: string;
  /** What it is about as it came: a path, JSON, the agent's words; null where that is nothing. */
  value: unknown;
  /** What the line says of a path beside it. */
  note: string;
}

/** `acp/permission`: everything known of what is asked. */
export interface Question {
  requestId: string;
  sessionId: string | null;
  agent: string;
  toolCallId: string | null;
  kind: string;
  /** Who wants what, in one line. */
  headline: string;
  /** Who wants what, and of what, in one line. Safe to show. */
  short: string;
  /** All there is to know besides the command and the diffs. */
  facts: QuestionFact[];
  /** All of it but the lines of the diffs, as one text. */
  message: string;
  title: string | null;
  description: string | null;
  command: string | null;
  cwd: string | null;
  paths: string[];
  locations: Location[];
  rawInput: unknown;
  diffs: QuestionDiff[];
  options: (PermissionOption & { title: string })[];
  /** None of the options is a no: to give no answer is offered as well. */
  refusable: boolean;
  state: string;
  optionId: string | null;
}

/** `acp/elicitation`: what an agent wants to know. */
export interface Elicitation {
  requestId: string;
  sessionId: string | null;
  agent: string;
  toolCallId: string | null;
  kind: string;
  mode: 'form' | 'url';
  /** Who wants what. Safe to show. */
  headline: string;
  /** The same with what it is about, in one line. Safe to show. */
  short: string;
  /** All there is to look at. */
  facts: QuestionFact[];
  message: string;
  requestedSchema: { properties?: Record<string, FormField>; required?: string[] } | null;
  fields: string[];
  url: string | null;
  host: string | null;
  content: Record<string, unknown> | null;
  problems: { field: string; message: string }[];
}

/** One property of a form's schema; what is not understood is not drawn. */
export interface FormField {
  type?: string;
  title?: string;
  description?: string;
  default?: unknown;
  enum?: string[];
  enumNames?: string[];
  oneOf?: { const: string; title?: string }[];
  items?: { enum?: string[]; anyOf?: { const: string; title?: string }[] };
  format?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  _meta?: { secret?: boolean };
}

export interface ElicitationAnswer {
  action: 'accept' | 'decline' | 'cancel';
  content?: Record<string, unknown>;
}

/** `acp/openTerminal`: a command to run where the user can type. */
export interface OpenTerminal {
  title: string;
  command: string;
  args: string[];
  env: Record<string, string>;
  cwd: string | null;
}

/** `acp/terminal`. */
export interface TerminalUpdate extends Terminal {
  sessionId: string;
}

/** What `acp.prompt.complete` answers: `text` in place of `start` to `end`, UTF-16 units. */
export interface Completion {
  label: string;
  text: string;
  detail: string | null;
  kind: 'command' | 'file' | 'folder';
  start: number;
  end: number;
}

/** A row of `acp.session.list`. */
export interface EarlierSession {
  agentSessionId: string;
  cwd: string;
  title: string | null;
  updatedAt: string | null;
  /** Whether `acp.session.delete` takes it. */
  deletable: boolean;
}

/** A row of `acp.agent.list`: one with a `problem` cannot be started now. In the order to show them. */
export interface ListedAgent {
  name: string;
  command: string | null;
  default: boolean;
  /** Whether it belongs among the agents of a new session. */
  offered: boolean;
  problem?: string | null;
  title?: string | null;
  description?: string | null;
}
