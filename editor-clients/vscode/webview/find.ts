import { element, iconButton } from './element.ts';

/** What the box that finds needs of the conversation. */
export interface Findable {
  /** Rows that hold a text, in order. The text is in lower case. */
  search: (text: string) => string[];
  /** The row to begin at. */
  from: () => string | null;
  /** Shows a row in which something was found. */
  show: (key: string) => void;
  /** Elements of the rows in the page. */
  drawn: () => HTMLElement[];
  closed: () => void;
}

/** Finds a text in the whole conversation, also in what is not in the page. */
export class Find {
  readonly element: HTMLElement;
  readonly #target: Findable;
  readonly #input: HTMLInputElement;
  readonly #count = element('span', { class: 'find-count', role: 'status' });
  #found: string[] = [];
  #at = -1;
  #timer = 0;

  constructor(target: Findable) {
    this.#target = target;
    this.#input = element('input', {
      type: 'text',
      placeholder: 'Find in the conversation',
      'aria-label': 'Find in the conversation',
      spellcheck: 'false',
    });
    this.#input.addEventListener('input', () => {
      clearTimeout(this.#timer);
      this.#timer = window.setTimeout(() => this.#search(), 80);
    });
    this.element = element(
      'div',
      { class: 'find', role: 'search', hidden: true },
      this.#input,
      this.#count,
      iconButton('arrow-up', 'Previous match', () => this.#step(-1)),
      iconButton('arrow-down', 'Next match', () => this.#step(1)),
      iconButton('close', 'Close', () => this.close()),
    );
    this.element.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') {
        event.stopPropagation();
        this.close();
      } else if (event.key === 'Enter' && event.target === this.#input) {
        event.preventDefault();
        this.#step(event.shiftKey ? -1 : 1);
      }
    });
  }

  get open(): boolean {
    return !this.element.hidden;
  }

  /** Opens the box, with what is selected in it. */
  show(): void {
    const selected = document.getSelection()?.toString() ?? '';
    this.element.hidden = false;
    if (selected !== '' && !selected.includes('\n')) {
      this.#input.value = selected;
    }
    this.#input.focus();
    this.#input.select();
    this.#search();
  }

  close(): void {
    this.element.hidden = true;
    this.#found = [];
    this.#at = -1;
    this.mark();
    this.#target.closed();
  }

  /** The conversation is another: what is found may be too. */
  refresh(): void {
    if (this.open) {
      const current = this.#found[this.#at];
      this.#found = this.#target.search(this.#text());
      this.#at = current === undefined ? -1 : this.#found.indexOf(current);
      this.#tell();
      this.mark();
    }
  }

  /** Marks what is found in the rows of the page, without changing them. */
  mark(): void {
    const text = this.open ? this.#text() : '';
    const ranges = text === '' ? [] : this.#target.drawn().flatMap((it) => rangesOf(it, text));
    CSS.highlights.set('found', new Highlight(...ranges));
  }

  #text(): string {
    return this.#input.value.toLowerCase();
  }

  #search(): void {
    this.#found = this.#target.search(this.#text());
    const from = this.#target.from();
    const keys = new Set(this.#found);
    this.#at = -1;
    if (from !== null && keys.has(from)) {
      this.#at = this.#found.indexOf(from) - 1;
    }
    this.#step(1);
  }

  #step(by: number): void {
    const many = this.#found.length;
    if (many > 0) {
      this.#at = (this.#at + by + many) % many;
      const key = this.#found[this.#at];
      if (key !== undefined) {
        this.#target.show(key);
      }
    }
    this.#tell();
    this.mark();
  }

  #tell(): void {
    const many = this.#found.length;
    this.#count.textContent =
      this.#text() === '' ? '' : many === 0 ? 'No results' : `${this.#at + 1} of ${many}`;
  }
}

function rangesOf(root: HTMLElement, text: string): Range[] {
  const ranges: Range[] = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const content = (node.nodeValue ?? '').toLowerCase();
    for (let at = content.indexOf(text); at >= 0; at = content.indexOf(text, at + text.length)) {
      const range = document.createRange();
      range.setStart(node, at);
      range.setEnd(node, Math.min(at + text.length, node.nodeValue?.length ?? 0));
      ranges.push(range);
    }
  }
  return ranges;
}
