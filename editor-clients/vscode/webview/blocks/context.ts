import type { FromChat } from '../../src/chat/messages.ts';
import type { Elicitation, EntryBlock, Question, Terminal } from '../../src/protocol.ts';
import type { TextActions } from '../markdown.ts';

/** What a block knows of what stands around it. */
export interface BlockContext extends TextActions {
  sessionId: string | null;
  /** The folder the agent works in; paths are shown relative to it. */
  cwd: string | null;
  agent: string;
  send: (message: FromChat) => void;
  /** What the user did with a part of this block: folds, fields. Kept while it is not drawn. */
  kept: Map<string, unknown>;
  question: (requestId: string) => Question | null;
  elicitation: (requestId: string) => Elicitation | null;
  terminal: (terminalId: string) => Terminal | null;
  /** When the block last moved without the user's doing; `performance.now()`. */
  movedAt: () => number;
  /** Tells a screen reader. */
  announce: (text: string) => void;
}

/** A block in the page: its elements, and how they change with it. */
export interface BlockView<B extends EntryBlock = EntryBlock> {
  readonly nodes: Node[];
  /** What a screen reader calls it. */
  label: (block: B) => string;
  update: (block: B) => void;
}
