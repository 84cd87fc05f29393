import { element, icon } from './element.ts';
import { visible } from './visible.ts';

/** A row of a menu; rows with the same `group` stand together under it. */
export interface MenuItem {
  id: string;
  label: string;
  detail?: string | null;
  group?: string | null;
  checked?: boolean;
}

let menus = 0;
let open: { close: () => void } | null = null;

/**
 * Shows a list above or below a button, to choose one row of. Arrows move, Home and End too,
 * letters look for a row, Enter and Space choose, Escape and Tab close.
 */
export function showMenu(
  anchor: HTMLElement,
  label: string,
  items: MenuItem[],
  choose: (id: string) => void,
): void {
  open?.close();
  menus += 1;
  const id = `menu-${menus}`;
  const rows = items.map((item, index) => row(item, `${id}-${index}`));
  const list = element('div', {
    class: 'menu',
    role: 'listbox',
    tabindex: '-1',
    id,
    'aria-label': label,
  });
  let group: string | null = null;
  for (const [index, item] of items.entries()) {
    if (item.group && item.group !== group) {
      group = item.group;
      list.append(
        element('div', { class: 'menu-group', text: visible(group), role: 'presentation' }),
      );
    }
    const made = rows[index];
    if (made) {
      list.append(made);
    }
  }

  let at = Math.max(
    items.findIndex((item) => item.checked),
    0,
  );
  let typed = '';
  let typedAt = 0;
  const move = (to: number) => {
    rows[at]?.classList.remove('focused');
    at = Math.min(Math.max(to, 0), rows.length - 1);
    const now = rows[at];
    if (now) {
      now.classList.add('focused');
      now.scrollIntoView({ block: 'nearest' });
      list.setAttribute('aria-activedescendant', now.id);
    }
  };
  const close = (refocus: boolean) => {
    document.removeEventListener('pointerdown', outside, true);
    window.removeEventListener('blur', away);
    window.removeEventListener('resize', away);
    list.remove();
    anchor.setAttribute('aria-expanded', 'false');
    open = null;
    if (refocus) {
      anchor.focus();
    }
  };
  const away = () => close(false);
  const outside = (event: Event) => {
    if (!list.contains(event.target as Node)) {
      const again = anchor.contains(event.target as Node);
      close(again);
      if (again) {
        // The same press would open it again.
        anchor.addEventListener('click', (click) => click.stopImmediatePropagation(), {
          capture: true,
          once: true,
        });
      }
    }
  };
  const take = (index: number) => {
    const item = items[index];
    close(true);
    if (item) {
      choose(item.id);
    }
  };
  list.addEventListener('keydown', (event) => {
    const keys: Record<string, () => void> = {
      ArrowDown: () => move(at + 1),
      ArrowUp: () => move(at - 1),
      Home: () => move(0),
      End: () => move(rows.length - 1),
      Enter: () => take(at),
      ' ': () => take(at),
      Escape: () => close(true),
      Tab: () => close(true),
    };
    const act = keys[event.key];
    if (act) {
      event.preventDefault();
      event.stopPropagation();
      act();
    } else if (event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey) {
      typed = (event.timeStamp - typedAt < 800 ? typed : '') + event.key.toLowerCase();
      typedAt = event.timeStamp;
      const found = items.findIndex((item) => item.label.toLowerCase().startsWith(typed));
      if (found >= 0) {
        move(found);
      }
    }
  });
  for (const [index, made] of rows.entries()) {
    made.addEventListener('click', () => take(index));
    made.addEventListener('pointermove', () => move(index));
  }
  document.body.append(list);
  place(list, anchor);
  anchor.setAttribute('aria-expanded', 'true');
  document.addEventListener('pointerdown', outside, true);
  window.addEventListener('blur', away);
  window.addEventListener('resize', away);
  open = { close: () => close(false) };
  list.focus();
  move(at);
}

function row(item: MenuItem, id: string): HTMLElement {
  return element(
    'div',
    { class: 'menu-item', role: 'option', id, 'aria-selected': item.checked ? 'true' : 'false' },
    element('span', { class: 'menu-check' }, item.checked ? icon('check') : null),
    element(
      'span',
      { class: 'menu-text' },
      element('span', { class: 'menu-label', text: visible(item.label) }),
      item.detail ? element('span', { class: 'menu-detail', text: visible(item.detail) }) : null,
    ),
  );
}

/** Above the button where there is more room than below it, never outside of the page. */
function place(list: HTMLElement, anchor: HTMLElement): void {
  const at = anchor.getBoundingClientRect();
  const above = at.top;
  const below = window.innerHeight - at.bottom;
  const left = Math.max(4, Math.min(at.left, window.innerWidth - list.offsetWidth - 4));
  list.style.left = `${left}px`;
  if (above > below) {
    list.style.bottom = `${window.innerHeight - at.top + 4}px`;
    list.style.maxHeight = `${Math.max(above - 12, 80)}px`;
  } else {
    list.style.top = `${at.bottom + 4}px`;
    list.style.maxHeight = `${Math.max(below - 12, 80)}px`;
  }
}
