import DOMPurify from 'dompurify';
import MarkdownIt from 'markdown-it';

import { chunks, definitions, fenceIsOpen } from './chunks.ts';
import { element, icon } from './element.ts';
import { highlighted } from './highlight.ts';
import { pathIn, type Place, placeOf } from './paths.ts';
import { visible, visibleLines } from './visible.ts';

/** What can be done with what stands in a text. */
export interface TextActions {
  openLink: (href: string) => void;
  openPath: (place: Place) => void;
  copy: (text: string) => void;
}

const PICTURE = /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=\s]+$/u;
/** An unfinished code block gets its colours when it is done, if it is longer than this. */
const MOST_UNFINISHED = 4_000;

const parser = new MarkdownIt({ html: false, linkify: true, breaks: false });
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
// What a link leads to is decided below; `javascript:` and its kind never become one.
const usual = parser.validateLink.bind(parser);
parser.validateLink = (url) => /^file:/iu.test(url) || PICTURE.test(url) || usual(url);

const SANITIZE = {
  RETURN_DOM_FRAGMENT: true as const,
  ALLOWED_TAGS: [
    ...['a', 'blockquote', 'br', 'code', 'em', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'hr', 'img'],
    ...['li', 'ol', 'p', 'pre', 's', 'span', 'strong', 'table', 'tbody', 'td', 'th', 'thead'],
    ...['tr', 'ul', 'del'],
  ],
  ALLOWED_ATTR: ['href', 'src', 'alt', 'title', 'start', 'class', 'data-language'],
  ALLOW_DATA_ATTR: false,
  ALLOWED_URI_REGEXP: /^(?!javascript:|vbscript:|data:(?!image\/(?:png|jpeg|gif|webp);))/iu,
};

parser.renderer.rules.fence = (tokens, index) => {
  const token = tokens[index];
  const language = (token?.info ?? '').trim().split(/\s/u)[0] ?? '';
  const escape = parser.utils.escapeHtml;
  return `<pre data-language="${escape(language)}"><code>${escape(token?.content ?? '')}</code></pre>`;
};
parser.renderer.rules.code_block = (tokens, index) =>
  `<pre><code>${parser.utils.escapeHtml(tokens[index]?.content ?? '')}</code></pre>`;

/**
 * Text of an agent's as Markdown. It never becomes HTML by itself: no tags, no pictures from
 * elsewhere, no links that run something.
 */
export class Markdown {
  readonly element: HTMLElement = element('div', { class: 'markdown', dir: 'auto' });
  readonly #actions: TextActions;
  #drawn: { source: string; nodes: HTMLElement }[] = [];
  #definitions = '';

  constructor(actions: TextActions) {
    this.#actions = actions;
  }

  /** Draws a text; of what is drawn already only what is another is drawn again. */
  show(text: string): void {
    const found = definitions(text);
    if (found !== this.#definitions) {
      this.#definitions = found;
      this.#drawn = [];
      this.element.replaceChildren();
    }
    const pieces = chunks(text.replaceAll('\r\n', '\n'));
    let same = 0;
    while (same < pieces.length && this.#drawn[same]?.source === pieces[same]) {
      same += 1;
    }
    // A long text loses its beginning while its end grows: its pieces are all there, elsewhere.
    const others = new Map(this.#drawn.slice(same).map((it) => [it.source, it]));
    const drawn = this.#drawn.slice(0, same);
    for (const source of pieces.slice(same)) {
      const known = others.get(source);
      others.delete(source);
      drawn.push(known ?? { source, nodes: this.#piece(source) });
    }
    for (const { nodes } of others.values()) {
      nodes.remove();
    }
    let before: Element | null = drawn[same - 1]?.nodes ?? null;
    for (const { nodes } of drawn.slice(same)) {
      if (nodes.previousElementSibling !== before || nodes.parentElement !== this.element) {
        this.element.insertBefore(nodes, before ? before.nextSibling : this.element.firstChild);
      }
      before = nodes;
    }
    while (before?.nextSibling) {
      before.nextSibling.remove();
    }
    this.#drawn = drawn;
  }

  #piece(source: string): HTMLElement {
    const defined = this.#definitions === '' ? source : `${source}\n\n${this.#definitions}`;
    const fragment = DOMPurify.sanitize(parser.render(defined), SANITIZE);
    const plain = source.length > MOST_UNFINISHED && fenceIsOpen(source);
    finish(fragment, this.#actions, plain);
    const piece = element('div', { class: 'piece' });
    piece.append(fragment);
    return piece;
  }
}

/** An item that begins with `[x]` or `[ ]` is a task, done or to be done. */
function markTask(item: HTMLLIElement): void {
  const paragraph = item.querySelector(':scope > p:first-child');
  const first = paragraph ? paragraph.firstChild : item.firstChild;
  const [mark, sign] = /^\[([ xX])\]\s/u.exec(first instanceof Text ? first.data : '') ?? [];
  if (!(first instanceof Text) || mark === undefined) {
    return;
  }
  first.deleteData(0, mark.length);
  const done = sign !== ' ';
  const label = done ? 'done' : 'to do';
  const box = element('span', { class: 'task', role: 'img', 'aria-label': label, title: label });
  box.append(icon(done ? 'pass-filled' : 'circle-large-outline'));
  first.before(box);
  item.classList.add('task-item');
}

/** Gives the pieces of sanitised Markdown what HTML alone cannot say. */
function finish(fragment: DocumentFragment, actions: TextActions, plain: boolean): void {
  for (const image of fragment.querySelectorAll('img')) {
    const source = image.getAttribute('src') ?? '';
    if (!PICTURE.test(source)) {
      image.replaceWith(link(image.alt === '' ? source : image.alt, source, actions));
    }
  }
  for (const anchor of fragment.querySelectorAll('a')) {
    const href = anchor.getAttribute('href') ?? '';
    lead(anchor, href, actions);
  }
  for (const code of fragment.querySelectorAll('code')) {
    if (code.parentElement?.tagName === 'PRE') {
      continue;
    }
    code.textContent = visible(code.textContent);
    const place = code.closest('a') ? null : pathIn(code.textContent);
    if (place) {
      const anchor = element('a', { class: 'path' });
      code.replaceWith(anchor);
      anchor.append(code);
      leadToPath(anchor, place, actions);
    }
  }
  for (const item of fragment.querySelectorAll('li')) {
    markTask(item);
  }
  for (const pre of fragment.querySelectorAll('pre')) {
    const language = pre.getAttribute('data-language') ?? '';
    pre.replaceWith(codeBlock(pre.textContent, language, actions, plain));
  }
  for (const table of fragment.querySelectorAll('table')) {
    const scroller = element('div', {
      class: 'table',
      tabindex: '0',
      role: 'group',
      'aria-label': 'Table',
    });
    table.replaceWith(scroller);
    scroller.append(table);
  }
}

function link(text: string, href: string, actions: TextActions): HTMLElement {
  const anchor = element('a', { text });
  lead(anchor, href, actions);
  return anchor;
}

/** Makes a link open what it names: a file in the editor, a page by way of the extension. */
function lead(anchor: HTMLAnchorElement, href: string, actions: TextActions): void {
  const place = linkedPath(href);
  if (place) {
    leadToPath(anchor, place, actions);
  } else if (/^https?:/iu.test(href)) {
    anchor.href = href;
    anchor.title = visible(href);
    press(anchor, () => actions.openLink(href));
  } else {
    anchor.removeAttribute('href');
  }
}

function linkedPath(href: string): Place | null {
  if (/^[a-z][a-z0-9+.-]+:(?!\d|[\\/][^/])/iu.test(href) && !/^file:/iu.test(href)) {
    return null;
  }
  try {
    const text = /^file:/iu.test(href) ? href : decodeURIComponent(href);
    const relative = /^[^#?<>|"*\p{C}]+/u.test(text) && !text.startsWith('//');
    return pathIn(text) ?? (relative && !/^file:/iu.test(text) ? placeOf(text) : null);
  } catch {
    return null;
  }
}

/** A link to a place in the user's files. */
export function pathLink(text: string, place: Place, actions: TextActions): HTMLAnchorElement {
  const anchor = element('a', { class: 'path', text: visible(text) });
  leadToPath(anchor, place, actions);
  return anchor;
}

function leadToPath(anchor: HTMLAnchorElement, place: Place, actions: TextActions): void {
  anchor.setAttribute('href', '#');
  anchor.title = visible(place.path) + (place.line === null ? '' : `:${place.line}`);
  press(anchor, () => actions.openPath(place));
}

function press(anchor: HTMLAnchorElement, open: () => void): void {
  const opened = (event: Event) => {
    // VS Code opens by itself what is clicked in a page.
    event.preventDefault();
    event.stopPropagation();
    open();
  };
  anchor.addEventListener('click', opened);
  anchor.addEventListener('auxclick', opened);
}

/** Code in full, with the name of its language and a button that copies it. */
export function codeBlock(
  source: string,
  language: string,
  actions: Pick<TextActions, 'copy'>,
  plain = false,
): HTMLElement {
  const text = visibleLines(source.replace(/\n$/u, ''));
  const code = element('code', { class: 'hljs' });
  const html = plain || language === '' ? null : highlighted(text, language.toLowerCase());
  if (html === null) {
    code.textContent = text;
  } else {
    code.append(
      DOMPurify.sanitize(html, {
        RETURN_DOM_FRAGMENT: true,
        ALLOWED_TAGS: ['span'],
        ALLOWED_ATTR: ['class'],
      }),
    );
  }
  return element(
    'div',
    { class: 'code' },
    element(
      'div',
      { class: 'code-head' },
      element('span', { class: 'language', text: visible(language) }),
      copyButton(() => source.replace(/\n$/u, ''), actions),
    ),
    element(
      'pre',
      { tabindex: '0', role: 'group', 'aria-label': `Code ${visible(language)}`.trim() },
      code,
    ),
  );
}

/** A button that copies, and says so for a moment. */
export function copyButton(text: () => string, actions: Pick<TextActions, 'copy'>): HTMLElement {
  const button = element('button', {
    type: 'button',
    class: 'icon-button copy',
    title: 'Copy',
    'aria-label': 'Copy',
  });
  button.append(icon('copy'));
  button.addEventListener('click', () => {
    actions.copy(text());
    button.replaceChildren(icon('check'));
    button.setAttribute('aria-label', 'Copied');
    setTimeout(() => {
      button.replaceChildren(icon('copy'));
      button.setAttribute('aria-label', 'Copy');
    }, 1500);
  });
  return button;
}
