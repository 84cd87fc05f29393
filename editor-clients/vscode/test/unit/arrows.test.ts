import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';

const ROOT = join(import.meta.dirname, '..', '..');
const FILES = globSync('{src,webview}/**/*.ts', { cwd: ROOT });

/** What of `src` runs in the page as well: it knows neither VS Code nor Node. */
const SHARED = [
  'src/chat/draft.ts',
  'src/chat/messages.ts',
  'src/protocol.ts',
  'src/questions/facts.ts',
  'src/questions/form_fields.ts',
  'src/sessions/status.ts',
  'src/visible.ts',
];

interface Import {
  from: string;
  to: string;
}

const IMPORTS: Import[] = FILES.flatMap((from) =>
  [...readFileSync(join(ROOT, from), 'utf8').matchAll(/ from '([^']+)';/gu)].map(([, to = '']) => ({
    from,
    to: to.startsWith('.') ? relative(ROOT, join(ROOT, dirname(from), to)) : to,
  })),
);

/** A folder of `src`, or a file beside them. */
function concern(file: string): string {
  return file.split('/').slice(0, 2).join('/');
}

/** The nodes from which an arrow leads back to themselves, the way round. */
function circles(arrows: readonly Import[]): string[] {
  const next = new Map<string, string[]>();
  for (const { from, to } of arrows) {
    next.set(from, [...(next.get(from) ?? []), to]);
  }
  const reached = (start: string) => {
    const seen = new Set<string>();
    const left = [start];
    for (let node = left.pop(); node !== undefined; node = left.pop()) {
      for (const to of next.get(node) ?? []) {
        if (!seen.has(to)) {
          seen.add(to);
          left.push(to);
        }
      }
    }
    return seen;
  };
  return [...next.keys()].filter((node) => reached(node).has(node));
}

test('no files import one another in a circle', () => {
  assert.ok(IMPORTS.length > 100);
  assert.deepEqual(circles(IMPORTS), []);
});

test('no concerns of the extension import one another in a circle', () => {
  const arrows = IMPORTS.filter(({ from, to }) => from.startsWith('src/') && to.startsWith('src/'))
    .map(({ from, to }) => ({ from: concern(from), to: concern(to) }))
    .filter(({ from, to }) => from !== to);
  assert.deepEqual(circles(arrows), []);
});

test('the page has of the extension only what is shared, and the extension nothing of it', () => {
  const within = (folder: string) => (file: string) => file.startsWith(folder);
  const taken = IMPORTS.filter(({ from, to }) => within('webview/')(from) && within('src/')(to));
  assert.deepEqual([...new Set(taken.map(({ to }) => to))].sort(), SHARED);
  const back = IMPORTS.filter(({ from, to }) => within('src/')(from) && within('webview/')(to));
  assert.deepEqual(back, []);
});

test('what is shared with the page imports nothing but what is shared', () => {
  const others = IMPORTS.filter(({ from, to }) => SHARED.includes(from) && !SHARED.includes(to));
  assert.deepEqual(others, []);
});
