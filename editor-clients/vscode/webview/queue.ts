import type { FromChat } from '../src/chat/messages.ts';
import type { QueuedPrompt } from '../src/protocol.ts';
import { element, icon, iconButton } from './element.ts';

/** The prompts that wait for the turn to end: each can be edited in place and dropped. */
export class Queue {
  readonly element = element('ol', { class: 'queue', 'aria-label': 'Waiting prompts' });
  readonly #send: (message: FromChat) => void;
  #sessionId = '';
  #prompts: QueuedPrompt[] = [];
  #edited: string | null = null;
  #drawn = '';

  constructor(send: (message: FromChat) => void) {
    this.#send = send;
    this.element.hidden = true;
  }

  show(sessionId: string, prompts: QueuedPrompt[]): void {
    const edited = prompts.some((prompt) => prompt.turnId === this.#edited) ? this.#edited : null;
    const drawn = JSON.stringify([sessionId, prompts]);
    // What is being typed must not be drawn over; the others come when it is done.
    if (drawn === this.#drawn || (edited !== null && sessionId === this.#sessionId)) {
      this.#prompts = prompts;
      return;
    }
    this.#sessionId = sessionId;
    this.#prompts = prompts;
    this.#edited = null;
    this.#draw();
  }

  #draw(): void {
    this.#drawn = JSON.stringify([this.#sessionId, this.#prompts]);
    this.element.hidden = this.#prompts.length === 0;
    this.element.replaceChildren(
      ...this.#prompts.map((prompt) =>
        prompt.turnId === this.#edited ? this.#editor(prompt) : this.#row(prompt),
      ),
    );
  }

  #row({ turnId, text }: QueuedPrompt): HTMLElement {
    const edit = () => {
      this.#edited = turnId;
      this.#draw();
      this.element.querySelector('textarea')?.focus();
    };
    return element(
      'li',
      { class: 'queued' },
      icon('history'),
      element('span', { class: 'queued-text', text, title: text, on: { dblclick: edit } }),
      iconButton('edit', `Edit the waiting prompt: ${text}`, edit, { title: 'Edit' }),
      iconButton(
        'close',
        `Drop the waiting prompt: ${text}`,
        () => this.#send({ type: 'dropQueued', sessionId: this.#sessionId, turnId }),
        { title: 'Drop' },
      ),
    );
  }

  #editor({ turnId, text }: QueuedPrompt): HTMLElement {
    const field = element('textarea', { rows: '2', 'aria-label': 'Waiting prompt' });
    field.value = text;
    const done = (save: boolean) => {
      this.#edited = null;
      if (save && field.value.trim() !== '' && field.value !== text) {
        this.#send({
          type: 'editQueued',
          sessionId: this.#sessionId,
          turnId,
          text: field.value,
        });
        this.#prompts = this.#prompts.map((prompt) =>
          prompt.turnId === turnId ? { turnId, text: field.value } : prompt,
        );
      }
      this.#draw();
    };
    field.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
        event.preventDefault();
        done(true);
      } else if (event.key === 'Escape') {
        event.stopPropagation();
        done(false);
      }
    });
    return element(
      'li',
      { class: 'queued editing' },
      field,
      iconButton('check', 'Save', () => done(true)),
      iconButton('discard', 'Leave as it was', () => done(false)),
    );
  }
}
