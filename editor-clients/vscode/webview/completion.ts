import type { FromChat } from '../src/chat/messages.ts';
import type { Completion } from '../src/protocol.ts';
import { element, icon } from './element.ts';
import { completable, completed, type Typed } from './replacing.ts';
import { visible } from './visible.ts';

const ICONS = { command: 'terminal', file: 'file', folder: 'folder' } as const;

/** Suggests what may follow in the prompt: a listbox the text field keeps the focus over. */
export class CompletionList {
  readonly element = element('div', {
    class: 'completion',
    role: 'listbox',
    id: 'completion',
    'aria-label': 'Suggestions',
    hidden: true,
  });
  readonly #field: HTMLTextAreaElement;
  readonly #send: (message: FromChat) => void;
  readonly #changed: () => void;
  #asked = 0;
  /** The text the shown suggestions are for. */
  #text = '';
  #items: Completion[] = [];
  #at = 0;

  constructor(field: HTMLTextAreaElement, send: (message: FromChat) => void, changed: () => void) {
    this.#field = field;
    this.#send = send;
    this.#changed = changed;
    field.setAttribute('aria-autocomplete', 'list');
    field.setAttribute('aria-haspopup', 'listbox');
    field.setAttribute('aria-controls', 'completion');
  }

  get open(): boolean {
    return !this.element.hidden;
  }

  /** Asks anew for what may follow. Answers to what was asked before are dropped. */
  ask(sessionId: string | null): void {
    this.#asked += 1;
    const typed = this.#typed();
    if (!completable(typed)) {
      this.close();
      return;
    }
    this.#text = typed.text;
    this.#send({ type: 'complete', id: this.#asked, sessionId, ...typed });
  }

  /** An answer to what was asked. */
  show(id: number, items: Completion[]): void {
    if (id !== this.#asked || this.#field.value !== this.#text) {
      return;
    }
    const kept = this.open ? this.#items[this.#at]?.label : undefined;
    this.#items = items;
    if (items.length === 0) {
      this.close();
      return;
    }
    this.element.replaceChildren(...items.map((item, index) => this.#row(item, index)));
    this.element.hidden = false;
    this.#move(
      Math.max(
        items.findIndex((item) => item.label === kept),
        0,
      ),
    );
  }

  close(): void {
    this.#asked += 1;
    this.#items = [];
    this.element.hidden = true;
    this.element.replaceChildren();
    this.#field.removeAttribute('aria-activedescendant');
  }

  /** Whether it has used the key. */
  key(event: KeyboardEvent): boolean {
    if (!this.open || event.isComposing) {
      return false;
    }
    const count = this.#items.length;
    const keys: Record<string, () => void> = {
      ArrowDown: () => this.#move((this.#at + 1) % count),
      ArrowUp: () => this.#move((this.#at + count - 1) % count),
      PageDown: () => this.#move(Math.min(this.#at + 8, count - 1)),
      PageUp: () => this.#move(Math.max(this.#at - 8, 0)),
      Enter: () => this.#take(this.#at),
      Tab: () => this.#take(this.#at),
      Escape: () => this.close(),
    };
    const act = event.shiftKey || event.ctrlKey || event.metaKey ? undefined : keys[event.key];
    act?.();
    return act !== undefined;
  }

  #typed(): Typed {
    return { text: this.#field.value, cursor: this.#field.selectionEnd };
  }

  #row(item: Completion, index: number): HTMLElement {
    return element(
      'div',
      {
        class: 'completion-item',
        role: 'option',
        id: `completion-${index}`,
        'aria-selected': 'false',
        // The text field keeps the focus.
        on: { pointerdown: (event) => event.preventDefault(), click: () => this.#take(index) },
      },
      icon(ICONS[item.kind]),
      ...label(item),
      item.detail
        ? element('span', { class: 'completion-detail', text: visible(item.detail) })
        : null,
    );
  }

  #move(to: number): void {
    this.element.children[this.#at]?.setAttribute('aria-selected', 'false');
    this.#at = to;
    const row = this.element.children[to];
    if (row) {
      row.setAttribute('aria-selected', 'true');
      row.scrollIntoView({ block: 'nearest' });
      this.#field.setAttribute('aria-activedescendant', row.id);
    }
  }

  #take(index: number): void {
    const item = this.#items[index];
    this.close();
    if (item) {
      const { text, cursor } = completed(this.#typed(), item);
      this.#field.value = text;
      this.#field.setSelectionRange(cursor, cursor);
      this.#field.focus();
      this.#changed();
    }
  }
}

/** A file by its name, with its folder behind it. */
function label(item: Completion): (Node | null)[] {
  if (item.kind === 'command') {
    return [element('span', { class: 'completion-label', text: visible(item.label) })];
  }
  const parts = item.label.split('/').filter(Boolean);
  const name = parts.at(-1) ?? item.label;
  const folder = parts.slice(0, -1).join('/');
  return [
    element('span', {
      class: 'completion-label',
      text: visible(item.kind === 'folder' ? `${name}/` : name),
    }),
    folder ? element('span', { class: 'completion-detail', text: visible(folder) }) : null,
  ];
}
