import type { ChatState, FromChat, SessionView, ToChat } from '../src/chat/messages.ts';
import type { EntryBlock } from '../src/protocol.ts';
import type { BlockContext } from './blocks/context.ts';
import { ending, gone, undrawable, working } from './blocks/ending.ts';
import { beginning, messageText } from './blocks/message.ts';
import { blockText } from './blocks/text.ts';
import { likelyHeight, viewOf } from './blocks/view.ts';
import { Conversation, GONE, waitingBlocks, WORKING } from './conversation.ts';
import { element, icon } from './element.ts';
import { Find } from './find.ts';
import { List, type Row } from './list.ts';
import { afterPress } from './pressing.ts';
import { steer } from './steering.ts';

/** What the extension says that concerns the conversation alone. */
export type ForTranscript = Extract<ToChat, { type: 'blocks' | 'terminal' | 'showQuestion' }>;

/**
 * The conversation: everything between the header and the prompt. It has what it was told of
 * every session; `show` says which is drawn.
 */
export class Transcript {
  readonly #root: HTMLElement;
  readonly #send: (message: FromChat) => void;
  readonly #list: List;
  readonly #find: Find;
  readonly #down: HTMLButtonElement;
  readonly #live = element('div', { class: 'unseen', role: 'status', 'aria-live': 'polite' });
  readonly #conversations = new Map<string | null, Conversation>();
  /** Rows to draw anew with the next frame. */
  readonly #dirty = new Set<string>();
  #waiting = new Map<string, EntryBlock>();
  #state: ChatState | null = null;
  #shown: string | null = null;
  #frame = 0;
  #status: SessionView['status'] | null = null;
  #unseen = false;

  /** `parent` is a flex column; the conversation takes what height the others leave. */
  constructor(parent: HTMLElement, send: (message: FromChat) => void) {
    this.#send = send;
    this.#list = new List(
      'Conversation',
      { make: (key) => this.#row(key), estimate: (key) => this.#likely(key) },
      () => this.#scrolled(),
    );
    this.#find = new Find({
      search: (text) => this.#search(text),
      from: () => this.#list.current ?? this.#list.position.key,
      show: (key) => this.#reveal(key),
      drawn: () => this.#list.drawn().flatMap((key) => this.#list.elementOf(key) ?? []),
      closed: () => this.#focusCurrent(),
    });
    this.#down = element(
      'button',
      { type: 'button', class: 'to-end', hidden: true, on: { click: () => this.#list.toEnd() } },
      icon('arrow-down'),
      element('span', { text: 'End' }),
    );
    this.#root = element(
      'div',
      { class: 'transcript' },
      this.#find.element,
      this.#list.element,
      this.#down,
      this.#live,
    );
    steer(this.#list);
    window.addEventListener('keydown', (event) => {
      if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === 'f') {
        event.preventDefault();
        event.stopPropagation();
        this.#find.show();
      }
    });
    parent.append(this.#root);
    this.#draw();
  }

  /** Everything that is not a block: sessions, questions that wait, the sidecar. */
  setState(state: ChatState): void {
    for (const { sessionId } of this.#state?.sessions ?? []) {
      if (!state.sessions.some((it) => it.sessionId === sessionId)) {
        this.#conversations.delete(sessionId);
      }
    }
    const before = this.#state;
    this.#state = state;
    const session = this.#session();
    if (this.#status === 'running' && session?.status === 'idle') {
      this.#tellEnd(session);
    }
    this.#status = session?.status ?? null;
    if (before?.questions !== state.questions || before.elicitations !== state.elicitations) {
      for (const question of [...state.questions, ...state.elicitations]) {
        this.#markQuestion(question.requestId);
      }
    }
    this.#schedule();
  }

  /** Draws this session's conversation, where the user had left it. */
  show(sessionId: string | null): void {
    if (sessionId === this.#shown) {
      return;
    }
    this.#conversation().position = this.#list.position;
    this.#shown = sessionId;
    this.#status = this.#session()?.status ?? null;
    this.#unseen = false;
    this.#dirty.clear();
    this.#list.reset(this.#keys(), this.#conversation().position);
    this.#draw();
  }

  apply(message: ForTranscript): void {
    switch (message.type) {
      case 'blocks': {
        const { sessionId, blocks, reset } = message;
        const changed = this.#conversation(sessionId).apply(blocks, reset);
        this.#changed(sessionId, changed);
        break;
      }
      case 'terminal': {
        const { terminal } = message;
        const changed = this.#conversation(terminal.sessionId).terminal(terminal);
        this.#changed(terminal.sessionId, changed);
        break;
      }
      case 'showQuestion':
        this.#draw();
        this.#showQuestion(message.requestId);
        break;
    }
  }

  #changed(sessionId: string, keys: string[]): void {
    if (sessionId === this.#shown) {
      for (const key of keys) {
        this.#dirty.add(key);
      }
      this.#unseen ||= !this.#list.atEnd && keys.length > 0;
      this.#schedule();
    }
  }

  /** At most once a frame, however fast an agent talks. */
  #schedule(): void {
    if (this.#frame === 0) {
      this.#frame = requestAnimationFrame(() =>
        afterPress(() => {
          this.#frame = 0;
          this.#draw();
        }),
      );
    }
  }

  #draw(): void {
    const keys = this.#keys();
    this.#list.setKeys(keys);
    for (const key of this.#dirty) {
      this.#list.update(key);
    }
    this.#dirty.clear();
    this.#list.layout();
    this.#find.refresh();
    this.#scrolled();
  }

  #keys(): string[] {
    const conversation = this.#conversation();
    const waiting = waitingBlocks(this.#state, this.#shown, conversation.blocks);
    this.#waiting = new Map(waiting.map((it) => [it.id, it]));
    return conversation.rows(
      this.#session(),
      waiting.map((it) => it.id),
    );
  }

  #conversation(sessionId = this.#shown): Conversation {
    let found = this.#conversations.get(sessionId);
    if (!found) {
      found = new Conversation();
      this.#conversations.set(sessionId, found);
    }
    return found;
  }

  #session(): SessionView | null {
    return this.#state?.sessions.find((it) => it.sessionId === this.#shown) ?? null;
  }

  #block(key: string): EntryBlock | null {
    return this.#waiting.get(key) ?? this.#conversation().blocks.get(key) ?? null;
  }

  #likely(key: string): number {
    const block = this.#block(key);
    return block ? likelyHeight(block) : 40;
  }

  #row(key: string): Row {
    const block = this.#block(key);
    const article = element('article', { class: 'row' });
    if (!block) {
      const [node, label] = this.#line(key);
      article.append(node);
      article.setAttribute('aria-label', label);
      return { element: article, update: () => undefined };
    }
    article.dataset.kind = block.kind;
    article.dataset.key = key;
    if (block.kind === 'message') {
      article.dataset.role = block.role;
    }
    // What an agent sent in a shape that nobody thought of must not take the rest with it.
    const drawn = (draw: () => string) => {
      try {
        article.setAttribute('aria-label', draw());
      } catch (error) {
        article.replaceChildren(undrawable(String(error)));
        article.setAttribute('aria-label', 'Something that cannot be shown');
        view = null;
      }
    };
    let view: ReturnType<typeof viewOf> | null = null;
    drawn(() => {
      view = viewOf(block, this.#context(key));
      article.append(...view.nodes);
      return view.label(block);
    });
    const update = () => {
      const now = this.#block(key);
      const shown = view;
      if (now && shown) {
        drawn(() => {
          shown.update(now);
          return shown.label(now);
        });
      }
    };
    return { element: article, update };
  }

  #line(key: string): [Node, string] {
    if (key === WORKING) {
      return [working(), 'The agent is working'];
    }
    const agent = this.#session()?.agent ?? 'The agent';
    if (key === GONE) {
      return [gone(agent), `${agent} has ended`];
    }
    const { reason, text } = this.#conversation().stop(key);
    return [ending(reason, text), text];
  }

  #context(key: string): BlockContext {
    const sessionId = this.#shown;
    const conversation = this.#conversation();
    let kept = conversation.kept.get(key);
    if (!kept) {
      kept = new Map();
      conversation.kept.set(key, kept);
    }
    const session = this.#session();
    return {
      sessionId,
      cwd: session?.cwd ?? null,
      agent: session?.agent ?? 'Agent',
      send: this.#send,
      kept,
      question: (id) => this.#state?.questions.find((it) => it.requestId === id) ?? null,
      elicitation: (id) => this.#state?.elicitations.find((it) => it.requestId === id) ?? null,
      terminal: (id) => conversation.terminalOf(id),
      movedAt: () => this.#list.movedAt(key),
      announce: (text) => this.#announce(text),
      openLink: (href) => this.#send({ type: 'openLink', href }),
      openPath: ({ path, line }) => {
        if (sessionId !== null) {
          this.#send({ type: 'openPath', sessionId, path, line });
        }
      },
      copy: (text) => this.#send({ type: 'copy', text }),
    };
  }

  /** What is asked is told by the state: its card is drawn with it. */
  #markQuestion(requestId: string): void {
    const key = this.#questionKey(requestId);
    if (key !== null) {
      this.#dirty.add(key);
    }
  }

  #questionKey(requestId: string): string | null {
    for (const blocks of [this.#waiting, this.#conversation().blocks]) {
      for (const block of [...blocks.values()].reverse()) {
        const asks = block.kind === 'permission' || block.kind === 'elicitation';
        if (asks && block.requestId === requestId) {
          return block.id;
        }
      }
    }
    return null;
  }

  #showQuestion(requestId: string): void {
    const key = this.#questionKey(requestId);
    if (key !== null) {
      this.#list.focus(key);
    }
  }

  #search(text: string): string[] {
    if (text === '') {
      return [];
    }
    return this.#list.keys.filter((key) => {
      const block = this.#block(key);
      return block !== null && blockText(block).toLowerCase().includes(text);
    });
  }

  #reveal(key: string): void {
    this.#list.reveal(key);
    // What is found may be folded.
    const folded = 'details:not([open]) > summary, .disclosure[aria-expanded="false"]';
    for (const it of this.#list.elementOf(key)?.querySelectorAll<HTMLElement>(folded) ?? []) {
      it.click();
    }
    this.#list.layout(true);
  }

  #focusCurrent(): void {
    const key = this.#list.current ?? this.#list.drawn().at(-1);
    if (key !== undefined) {
      this.#list.elementOf(key)?.focus({ preventScroll: true });
    }
  }

  #scrolled(): void {
    if (this.#list.atEnd) {
      this.#unseen = false;
    }
    this.#down.hidden = this.#list.atEnd || this.#list.keys.length === 0;
    const label = this.#unseen ? 'New' : 'End';
    if (this.#down.lastElementChild?.textContent !== label) {
      this.#down.lastElementChild?.replaceChildren(label);
      this.#down.setAttribute('aria-label', this.#unseen ? 'Go to what is new' : 'Go to the end');
    }
    if (this.#find.open) {
      this.#find.mark();
    }
  }

  /** What the agent has said at last. */
  #tellEnd(session: SessionView): void {
    const last = [...this.#conversation().blocks.values()].findLast(
      (it) => it.kind === 'message' && it.role === 'agent',
    );
    if (last?.kind === 'message' && session.stopReason !== null && session.stopText === null) {
      this.#announce(`${session.agent}: ${beginning(messageText(last), 400)}`);
    }
  }

  #announce(text: string): void {
    this.#live.textContent = text;
  }
}
