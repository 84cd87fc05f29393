import { element } from '../element.ts';
import { visibleLines } from '../visible.ts';

/** Lines as they were written. While its end is in sight it stays so as more comes. */
export class Output {
  readonly element = element('pre', {
    class: 'output',
    tabindex: '0',
    role: 'group',
    'aria-label': 'Output',
  });
  #text = '';

  write(written: string): void {
    const text = visibleLines(written).replace(/\n$/u, '');
    if (text === this.#text) {
      return;
    }
    const output = this.element;
    const atEnd = output.scrollHeight - output.scrollTop - output.clientHeight < 8;
    const node = output.firstChild;
    if (node instanceof Text && text.startsWith(this.#text)) {
      // What is selected in it stays selected.
      node.appendData(text.slice(this.#text.length));
    } else {
      output.textContent = text;
    }
    this.#text = text;
    if (atEnd) {
      this.toEnd();
    }
  }

  /** Its end is what is new. */
  toEnd(): void {
    this.element.scrollTop = this.element.scrollHeight;
  }
}
