import type { ChatState, SessionView } from '../src/chat/messages.ts';
import type {
  Elicitation,
  ElicitationBlock,
  EntryBlock,
  PermissionBlock,
  Question,
  SessionStatus,
  Terminal,
  TerminalUpdate,
} from '../src/protocol.ts';
import type { Position } from './list.ts';

/** The kinds that can be drawn; others are passed over. */
const KINDS = new Set([
  'message',
  'toolCall',
  'plan',
  'permission',
  'elicitation',
  'notice',
  'compaction',
]);

/** Rows that are no blocks. */
export const WORKING = 'row:working';
export const GONE = 'row:gone';
export const STOP = 'row:stop:';
const ASKED = 'row:asked:';

/** How a turn ended: the agent's word, and what the sidecar says of it. */
interface Stop {
  reason: string;
  text: string;
}

/** One session's conversation as it is known: what to draw, in which order. */
export class Conversation {
  readonly blocks = new Map<string, EntryBlock>();
  /** What the user did with parts of blocks, by block. */
  readonly kept = new Map<string, Map<string, unknown>>();
  /** Where it was left. */
  position: Position | null = null;
  readonly #terminals = new Map<string, Terminal>();
  /** How turns ended, where they did not just end. */
  readonly #stops = new Map<number, Stop>();
  #keys: string[] | null = null;
  #status: SessionStatus | null = null;
  #turn = 0;

  /** Takes blocks in, and says which rows are others now. */
  apply(blocks: EntryBlock[], reset: boolean): string[] {
    if (reset) {
      this.blocks.clear();
      this.#terminals.clear();
      this.#turn = 0;
      this.#keys = null;
    }
    const drawn = blocks.filter((it) => KINDS.has(it.kind));
    for (const block of drawn) {
      if (!this.blocks.has(block.id)) {
        this.#keys = null;
      }
      this.blocks.set(block.id, block);
      this.#turn = Math.max(this.#turn, turnOf(block) ?? 0);
      if (block.kind === 'toolCall') {
        this.#ends(block.content);
      }
    }
    return drawn.map((it) => it.id);
  }

  /** The commands' state in a block is newer where it says that one has ended. */
  #ends(content: { type: string; terminal?: Terminal | null }[]): void {
    for (const { terminal } of content) {
      const known = terminal && this.#terminals.get(terminal.terminalId);
      if (known?.exitStatus === null && terminal?.exitStatus) {
        this.#terminals.set(terminal.terminalId, { ...known, exitStatus: terminal.exitStatus });
      }
    }
  }

  /** Takes a command's state in, and says which blocks show it. */
  terminal(update: TerminalUpdate): string[] {
    this.#terminals.set(update.terminalId, update);
    return [...this.blocks.values()]
      .filter(
        (it) =>
          it.kind === 'toolCall' &&
          it.content.some(
            (item) => item.type === 'terminal' && item.terminalId === update.terminalId,
          ),
      )
      .map((it) => it.id);
  }

  terminalOf(id: string): Terminal | null {
    return this.#terminals.get(id) ?? null;
  }

  /** The rows in order, for what stands beside the conversation. */
  rows(session: SessionView | null, waiting: string[]): string[] {
    this.#noteStop(session);
    this.#keys ??= this.#order();
    const keys = [...this.#keys, ...waiting];
    if (session?.status === 'running') {
      keys.push(WORKING);
    } else if (session?.status === 'dead') {
      keys.push(GONE);
    }
    return keys;
  }

  /** A turn's end is told once, when it ends: the next turn's blocks may come before its status. */
  #noteStop(session: SessionView | null): void {
    if (session === null || this.blocks.size === 0) {
      return;
    }
    const { status, stopReason, stopText } = session;
    if (status === 'idle' && this.#status !== 'idle' && stopText !== null) {
      this.#stops.set(this.#turn, { reason: stopReason ?? '', text: stopText });
      this.#keys = null;
    }
    this.#status = status;
  }

  /** What ended the turn that a row stands for. */
  stop(key: string): Stop {
    return this.#stops.get(Number(key.slice(STOP.length))) ?? { reason: '', text: '' };
  }

  #order(): string[] {
    const keys: string[] = [];
    let turn: number | null = null;
    const end = () => {
      if (turn !== null && this.#stops.has(turn)) {
        keys.push(`${STOP}${turn}`);
      }
    };
    for (const block of this.blocks.values()) {
      const other = turnOf(block);
      if (other !== null && (turn === null || other > turn)) {
        end();
        turn = other;
      }
      keys.push(block.id);
    }
    end();
    return keys;
  }
}

function turnOf(block: EntryBlock): number | null {
  return 'turn' in block && typeof block.turn === 'number' ? block.turn : null;
}

/**
 * Questions and forms of the session that wait and that no block of the conversation stands
 * for, such as the sidecar's own.
 */
export function waitingBlocks(
  state: ChatState | null,
  sessionId: string | null,
  blocks: ReadonlyMap<string, EntryBlock>,
): EntryBlock[] {
  if (state === null || sessionId === null) {
    return [];
  }
  const isHere = (it: Question | Elicitation) => it.sessionId === sessionId;
  const questions = state.questions.filter(isHere);
  const forms = state.elicitations.filter(isHere);
  if (questions.length + forms.length === 0) {
    // As nearly always: this is asked with each frame, of however many blocks.
    return [];
  }
  const known = new Set<string>();
  for (const block of blocks.values()) {
    if (block.kind === 'permission' || block.kind === 'elicitation') {
      known.add(block.requestId);
    }
  }
  const isUnknown = (it: Question | Elicitation) => !known.has(it.requestId);
  return [
    ...questions.filter(isUnknown).map(permissionBlock),
    ...forms.filter(isUnknown).map(elicitationBlock),
  ];
}

function permissionBlock(question: Question): PermissionBlock {
  return {
    ...question,
    id: `${ASKED}${question.requestId}`,
    kind: 'permission',
    state: 'waiting',
    rejected: null,
    subject: null,
    turn: 0,
  };
}

function elicitationBlock(form: Elicitation): ElicitationBlock {
  return {
    ...form,
    id: `${ASKED}${form.requestId}`,
    kind: 'elicitation',
    state: 'waiting',
    action: null,
    completed: false,
    turn: 0,
  };
}
