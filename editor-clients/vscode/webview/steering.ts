import type { List } from './list.ts';

/**
 * Moves the focus over the rows of a list by keys: arrows and Page Up / Down a row or a page,
 * Home and End to the first and last one; Escape leads from inside a row to the row.
 */
export function steer(list: List): void {
  list.element.addEventListener('keydown', (event) => {
    const target = event.target as HTMLElement;
    const key = list.keyOf(target);
    if (key === null || event.defaultPrevented || event.altKey || event.metaKey) {
      return;
    }
    const row = list.elementOf(key);
    if (event.key === 'Escape' && target !== row && row) {
      event.stopPropagation();
      row.focus({ preventScroll: true });
      return;
    }
    // Fields, and what scrolls by itself, have these keys for themselves.
    if (target !== row && target.closest('input, textarea, select, pre, .diff-lines, .table')) {
      return;
    }
    const next = goal(list, key, event);
    if (next !== null && next !== undefined) {
      event.preventDefault();
      list.focus(next);
    }
  });
}

function goal(list: List, key: string, event: KeyboardEvent): string | null | undefined {
  const { keys } = list;
  const index = keys.indexOf(key);
  switch (event.key) {
    case 'ArrowDown':
      return scrolledWithin(list, key, 1) ? null : keys[index + 1];
    case 'ArrowUp':
      return scrolledWithin(list, key, -1) ? null : keys[index - 1];
    case 'PageDown':
      return keys[paged(list, index, 1)];
    case 'PageUp':
      return keys[paged(list, index, -1)];
    case 'Home':
      return keys[0];
    case 'End':
      if (keys.length > 0) {
        list.toEnd();
      }
      return keys.at(-1);
    default:
      return undefined;
  }
}

/** A row that is higher than the list is read before it is left; the browser scrolls. */
function scrolledWithin(list: List, key: string, by: 1 | -1): boolean {
  const row = list.elementOf(key)?.getBoundingClientRect();
  const seen = list.element.getBoundingClientRect();
  if (!row || row.height <= seen.height) {
    return false;
  }
  return by === 1 ? row.bottom > seen.bottom + 1 : row.top < seen.top - 1;
}

/** The row about a page away. */
function paged(list: List, index: number, by: 1 | -1): number {
  const height = list.element.clientHeight;
  let at = index;
  let passed = 0;
  while (passed < height * 0.8 && at + by >= 0 && at + by < list.keys.length) {
    at += by;
    passed += list.heightAt(at);
  }
  return at;
}
