/**
 * Takes the pictures of the READMEs and of the walkthrough: `npm run pictures`.
 *
 * They show the packed extension in a real VS Code, at work with the demo agent.
 */

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { scenario, until, type Workbench } from './harness/index.ts';
import { EXTENSION } from './harness/places.ts';

const MEDIA = join(EXTENSION, 'media/pictures');
const SIZE = { width: 1280, height: 800 };

const GREETING = `"""Greets people by name."""


def greet(name):
    return "Hello " + name


def main():
    for name in ("Ada", "Grace", "Linus"):
        print(greet(name))


if __name__ == "__main__":
    main()
`;
const MINE = `"""Says good-bye."""

from greeting import greet


def part(name):
    """Says it to one of them."""
    words = greet(name)
    return words.replace("Hello", "Good-bye")


def test_part():
    assert part("Ada") == "Good-bye Ada"
`;
const OPTIONS = {
  files: {
    'greeting.py': GREETING,
    'parting.py': MINE,
    'README.md': '# Greetings\n\nGreets people by name.\n',
  },
  env: { ACP_DEMO_PACE: '1.5' },
  settings: {
    'diffEditor.useInlineViewWhenSpaceIsLimited': false,
    'editor.fontSize': 12,
    'editor.renderLineHighlight': 'none',
    'editor.scrollbar.horizontal': 'hidden',
    'window.commandCenter': false,
    'workbench.colorTheme': 'Default Dark Modern',
    'workbench.layoutControl.enabled': false,
  },
};

async function take(window: Workbench, name: string): Promise<void> {
  mkdirSync(MEDIA, { recursive: true });
  await window.page.mouse.move(SIZE.width / 2, SIZE.height - 4);
  await window.page.screenshot({ path: join(MEDIA, `${name}.png`), animations: 'disabled' });
}

/** Pulls the side bar as wide as somebody would who talks to an agent. */
async function widen(window: Workbench, width: number): Promise<void> {
  const { page } = window;
  const box = await page.locator('.part.sidebar').boundingBox();
  assert.ok(box);
  await page.mouse.move(box.x + box.width, SIZE.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + width, SIZE.height / 2, { steps: 5 });
  await page.mouse.up();
}

/** Waits until the agent's sign stands in a line of its column. */
async function marked(window: Workbench, words: string): Promise<void> {
  await until(`a line says "${words}"`, () =>
    window.editors
      .of('greeting.py')
      .locator('.view-line span')
      .evaluateAll(
        (all, said) => all.some((it) => getComputedStyle(it, '::after').content.includes(said)),
        words,
      ),
  );
}

scenario('the agent at work, its question, the review', OPTIONS, async (window) => {
  const { chat, editors, page } = window;
  await page.setViewportSize(SIZE);
  await window.activated();
  await window.openFile('parting.py');
  await chat.open();
  await widen(window, 410);
  await chat.prompt('Greet everybody in the morning, and Barbara too');
  await window.statusBar('greeting.py:5').waitFor();
  await marked(window, 'demo reads');
  await take(window, 'follow');

  const yes = chat.frame.getByRole('button', { name: /^Yes\b/ }).first();
  await yes.waitFor();
  await marked(window, 'demo edits');
  const changes = page.locator('.sidebar .pane-header').filter({ hasText: 'Changes' });
  await changes.click();
  await chat.frame.getByText('The agent calls it').waitFor();
  await take(window, 'question');

  await yes.click();
  await changes.click();
  await chat.says('wait for your review');
  await window.command('View: Close All Editors');
  await window.openFile('greeting.py');
  await until('lenses are drawn', async () => (await editors.lenses('greeting.py'))[3]);
  await take(window, 'review');

  await window.command('ACP: Open All Changes');
  await page.locator('.multiDiffEntry .line-insert').first().waitFor();
  await take(window, 'changes');
});
