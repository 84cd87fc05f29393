import type { Memento } from 'vscode';

import { isEmpty } from './draft.ts';
import type { Draft } from './messages.ts';

const KEY = 'chat.drafts';
/** A window that is closed at once loses no more than what was typed in this time. */
const DELAY = 100;
/** Pictures are large to write. */
const DELAY_WITH_IMAGES = 400;

/** A session's name over reloads: the sidecar's own id is another after each. */
interface DraftOwner {
  agent: string;
  agentSessionId: string | null;
  sessionId: string;
}

/** What was typed and not sent, by session; kept over a reload of the window. */
export class Drafts {
  readonly #memento: Pick<Memento, 'get' | 'update'>;
  readonly #drafts: Map<string, Draft>;
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(memento: Pick<Memento, 'get' | 'update'>) {
    this.#memento = memento;
    this.#drafts = new Map(Object.entries(memento.get<Record<string, Draft>>(KEY, {})));
  }

  /** The draft of a session, or, without one, of the prompt that will begin one. */
  get(owner: DraftOwner | null): Draft {
    return this.#drafts.get(keyOf(owner)) ?? { text: '', images: [] };
  }

  set(owner: DraftOwner | null, draft: Draft): void {
    if (isEmpty(draft)) {
      this.#drafts.delete(keyOf(owner));
    } else {
      this.#drafts.set(keyOf(owner), draft);
    }
    const delay = draft.images.length > 0 ? DELAY_WITH_IMAGES : DELAY;
    this.#timer ??= setTimeout(() => void this.save(), delay);
  }

  /** A session is called otherwise now. */
  move(from: DraftOwner, to: DraftOwner): void {
    const draft = this.get(from);
    if (keyOf(from) !== keyOf(to) && !isEmpty(draft)) {
      this.set(from, { text: '', images: [] });
      this.set(to, draft);
    }
  }

  async save(): Promise<void> {
    if (this.#timer) {
      clearTimeout(this.#timer);
      this.#timer = null;
      await this.#memento.update(KEY, Object.fromEntries(this.#drafts));
    }
  }
}

function keyOf(owner: DraftOwner | null): string {
  return owner === null ? '' : `${owner.agent}:${owner.agentSessionId ?? owner.sessionId}`;
}
