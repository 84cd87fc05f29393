import { element } from '../element.ts';
import { visibleLines } from '../visible.ts';
import type { BlockContext } from './context.ts';

export interface Fold {
  element: HTMLDetailsElement;
  summary: HTMLElement;
  /** Whether it is open until the user says otherwise. */
  preset: (open: boolean) => void;
}

/**
 * A part that can be folded; what is in it is made when it is first open. What the user chose
 * is kept under `name`.
 */
export function fold(
  context: BlockContext,
  name: string,
  summary: (Node | string | null)[],
  fill: (body: HTMLElement) => void,
  open = false,
): Fold {
  const head = element('summary', { 'data-key': name }, ...summary);
  const body = element('div', { class: 'fold-body' });
  const details = element('details', { class: 'fold' }, head, body);
  let filled = false;
  const show = (shown: boolean) => {
    if (shown && !filled) {
      filled = true;
      fill(body);
    }
    details.open = shown;
  };
  head.addEventListener('click', (event) => {
    if ((event.target as Element).closest('a, button')) {
      return;
    }
    event.preventDefault();
    context.kept.set(name, !details.open);
    show(!details.open);
  });
  const preset = (preferred: boolean) =>
    show((context.kept.get(name) as boolean | undefined) ?? preferred);
  preset(open);
  return { element: details, summary: head, preset };
}

/**
 * A row with a button that shows or hides what is below it. What else stands in the row, such as
 * links, is beside the button; a click on the row itself is one on the button.
 */
export function disclosure(
  context: BlockContext,
  name: string,
  fill: (body: HTMLElement) => void,
): { row: HTMLElement; body: HTMLElement; button: HTMLElement; preset: (open: boolean) => void } {
  const button = element('button', { type: 'button', class: 'disclosure', 'data-key': name });
  const body = element('div', { class: 'fold-body', hidden: true });
  const row = element('div', { class: 'disclosure-row' });
  let filled = false;
  const show = (shown: boolean) => {
    if (shown && !filled) {
      filled = true;
      fill(body);
    }
    body.hidden = !shown;
    button.setAttribute('aria-expanded', String(shown));
  };
  row.addEventListener('click', (event) => {
    const other = (event.target as Element).closest('a, button');
    if ((other === null || other === button) && button.hasAttribute('aria-expanded')) {
      context.kept.set(name, body.hidden);
      show(body.hidden);
    }
  });
  const preset = (preferred: boolean) =>
    show((context.kept.get(name) as boolean | undefined) ?? preferred);
  return { row, body, button, preset };
}

/** Lines that are shown in full at a press where they are many. */
export function clamped(
  context: BlockContext,
  name: string,
  content: HTMLElement,
  lines: number,
  most: number,
): HTMLElement {
  if (lines <= most) {
    return content;
  }
  const more = element('button', { type: 'button', class: 'link-button', 'data-key': name });
  const box = element('div', { class: 'clamp' }, content, more);
  const show = (open: boolean) => {
    content.classList.toggle('clamped', !open);
    more.textContent = open ? 'Show less' : `Show all ${lines} lines`;
    more.setAttribute('aria-expanded', String(open));
  };
  more.addEventListener('click', () => {
    const open = content.classList.contains('clamped');
    context.kept.set(name, open);
    show(open);
  });
  content.style.setProperty('--most-lines', String(most));
  show(context.kept.get(name) === true);
  return box;
}

/** Any value as JSON to read, folded unless it is said to be `open`. */
export function jsonFold(
  context: BlockContext,
  title: string,
  value: unknown,
  open = false,
): HTMLElement {
  const head = element('span', { class: 'fold-title', text: title });
  const fill = (body: HTMLElement) => body.append(jsonText(value));
  return fold(context, `json:${title}`, [head], fill, open).element;
}

function jsonText(value: unknown): HTMLElement {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  const properties = { class: 'plain', tabindex: '0', role: 'group', 'aria-label': 'Details' };
  return element('pre', { ...properties, text: visibleLines(text) });
}
