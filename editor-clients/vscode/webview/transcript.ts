import type { ChatState, FromChat, ToChat } from '../src/chat/messages.ts';
import { element } from './element.ts';

/** What the extension says that concerns the conversation alone. */
export type ForTranscript = Extract<ToChat, { type: 'blocks' | 'terminal' | 'showQuestion' }>;

/**
 * The conversation: everything between the header and the prompt, also what is there to see
 * without a session. It has what it was told of every session; `show` says which is drawn.
 */
export class Transcript {
  readonly #root: HTMLElement;
  readonly #send: (message: FromChat) => void;

  /** `parent` is a flex column; the conversation takes what height the others leave. */
  constructor(parent: HTMLElement, send: (message: FromChat) => void) {
    this.#send = send;
    this.#root = element('div', { class: 'transcript' });
    parent.append(this.#root);
  }

  /** Everything that is not a block: sessions, questions that wait, the sidecar. */
  setState(state: ChatState): void {
    this.#root.dataset.sidecar = state.sidecar.state;
  }

  /** Draws this session's conversation, where the user had left it. */
  show(sessionId: string | null): void {
    this.#root.dataset.session = sessionId ?? '';
  }

  apply(message: ForTranscript): void {
    this.#root.onclick = () => this.#send({ type: 'showHistory' });
    if (message.type === 'blocks') {
      this.#root.append(...message.blocks.map((it) => element('p', { text: it.kind })));
    }
  }
}
