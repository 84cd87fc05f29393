/** What an element is made with; other names are attributes, `on` are its listeners. */
export interface Properties {
  class?: string;
  text?: string;
  on?: Partial<{ [E in keyof HTMLElementEventMap]: (event: HTMLElementEventMap[E]) => void }>;
  [attribute: string]: unknown;
}

/** Makes an element. Text is never HTML. An attribute that is null, undefined or false is left out. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Properties = {},
  ...children: (Node | string | null)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === 'class') {
      made.className = value as string;
    } else if (name === 'text') {
      made.textContent = value as string;
    } else if (name === 'on') {
      for (const [event, listener] of Object.entries(value as Record<string, EventListener>)) {
        made.addEventListener(event, listener);
      }
    } else if (value !== null && value !== undefined && value !== false) {
      made.setAttribute(name, value === true ? '' : `${value as string | number}`);
    }
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

/** A codicon; what it means is said by what it stands in. */
export function icon(name: string): HTMLElement {
  return element('i', { class: `codicon codicon-${name}`, 'aria-hidden': 'true' });
}

/** A button of an icon alone, with its name as label and tooltip. */
export function iconButton(
  name: string,
  label: string,
  press: () => void,
  properties: Properties = {},
): HTMLButtonElement {
  return element(
    'button',
    {
      type: 'button',
      title: label,
      'aria-label': label,
      on: { click: press },
      ...properties,
      class: `icon-button ${properties.class ?? ''}`.trim(),
    },
    icon(name),
  );
}

/**
 * Draws a part of the page anew where what it shows (`value`) is another. The element that has
 * the focus is known again by its `data-key`.
 */
export class Part<T> {
  readonly element: HTMLElement;
  readonly #draw: (value: T) => (Node | null)[];
  #drawn: string | null = null;

  constructor(root: HTMLElement, draw: (value: T) => (Node | null)[]) {
    this.element = root;
    this.#draw = draw;
  }

  show(value: T): void {
    const drawn = JSON.stringify(value);
    if (drawn === this.#drawn) {
      return;
    }
    this.#drawn = drawn;
    const focused = this.element.contains(document.activeElement)
      ? document.activeElement?.getAttribute('data-key')
      : null;
    this.element.replaceChildren(...this.#draw(value).filter((child) => child !== null));
    if (focused) {
      const again = this.element.querySelector<HTMLElement>(`[data-key="${CSS.escape(focused)}"]`);
      again?.focus();
    }
  }
}
