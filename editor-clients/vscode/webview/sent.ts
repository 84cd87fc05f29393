import type { ToChat } from '../src/chat/messages.ts';

/** The prompts of each session, to bring one back, and whether anything was said in it. */
export class Sent {
  readonly #prompts = new Map<string, Map<string, string>>();
  readonly #begun = new Set<string>();

  take({ sessionId, blocks, reset }: ToChat & { type: 'blocks' }): void {
    if (reset) {
      this.#prompts.delete(sessionId);
      this.#begun.delete(sessionId);
    }
    for (const block of blocks) {
      this.#begun.add(sessionId);
      if (block.kind === 'message' && block.role === 'user') {
        const text = block.content
          .flatMap((part) => (part.type === 'text' ? [part.text] : []))
          .join('\n');
        const prompts = this.#prompts.get(sessionId) ?? new Map<string, string>();
        prompts.set(block.id, text);
        this.#prompts.set(sessionId, prompts);
      }
    }
  }

  /** Oldest first; of equal ones in a row one. */
  of(sessionId: string | null): string[] {
    const prompts = [...(this.#prompts.get(sessionId ?? '')?.values() ?? [])];
    return prompts.filter((text, at) => text !== '' && text !== prompts[at - 1]);
  }

  isEmpty(sessionId: string): boolean {
    return !this.#begun.has(sessionId);
  }

  /** Forgets all sessions but these. */
  keep(sessionIds: string[]): void {
    for (const sessionId of this.#begun) {
      if (!sessionIds.includes(sessionId)) {
        this.#begun.delete(sessionId);
        this.#prompts.delete(sessionId);
      }
    }
  }
}
