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
  readonly #enter: () => void;
  #asked = 0;
  /** The text that was asked for last. */
  #text = '';
  #items: Completion[] = [];
  /** The text the shown suggestions are for. */
  #shownFor = '';
  #at = 0;
  /** What is to be taken once the suggestions for what was just typed are there. */
  #wanted: { label: string | undefined; by: 'Enter' | 'Tab' | 'mouse' } | null = null;

  /**
   * @param changed a suggestion was taken
   * @param enter Enter was pressed, and there turned out to be nothing to take
   */
  constructor(
    field: HTMLTextAreaElement,
    send: (message: FromChat) => void,
    changed: () => void,
    enter: () => void,
  ) {
    this.#field = field;
    this.#send = send;
    this.#changed = changed;
    this.#enter = enter;
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
    this.#wanted = null;
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
    const wanted = this.#wanted;
    const kept = this.open ? this.#items[this.#at]?.label : undefined;
    this.#wanted = null;
    this.#items = items;
    this.#shownFor = this.#text;
    if (items.length === 0) {
      this.close();
      if (wanted?.by === 'Enter') {
        this.#enter();
      }
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
    const at = items.findIndex((item) => item.label === wanted?.label);
    if (wanted && (at >= 0 || wanted.by !== 'mouse')) {
      this.#take(Math.max(at, 0), wanted.by);
    }
  }

  close(): void {
    this.#asked += 1;
    this.#wanted = null;
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
    if (this.#wanted && event.key === 'Enter') {
      // Nobody answers: the user does not wait for it.
      this.close();
      return false;
    }
    const count = this.#items.length;
    const keys: Record<string, () => void> = {
      ArrowDown: () => this.#move((this.#at + 1) % count),
      ArrowUp: () => this.#move((this.#at + count - 1) % count),
      PageDown: () => this.#move(Math.min(this.#at + 8, count - 1)),
      PageUp: () => this.#move(Math.max(this.#at - 8, 0)),
      Enter: () => this.#take(this.#at, 'Enter'),
      Tab: () => this.#take(this.#at, 'Tab'),
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
        on: {
          pointerdown: (event) => event.preventDefault(),
          click: () => this.#take(index, 'mouse'),
        },
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

  #take(index: number, by: 'Enter' | 'Tab' | 'mouse'): void {
    const item = this.#items[index];
    if (this.#field.value !== this.#shownFor) {
      // It says what to put in the place of what: of a text that is longer by now.
      this.#wanted = { label: item?.label, by };
      return;
    }
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
