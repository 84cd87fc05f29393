/**
 * Takes the pictures of the READMEs and of the walkthrough: `npm run pictures`.
 *
 * They show the packed extension in a real VS Code, at work with the demo agent.
 */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { scenario, until, type Workbench } from './harness/index.ts';
import { EXTENSION } from './harness/places.ts';

const MEDIA = join(EXTENSION, 'media/pictures');
const SIZE = { width: 1280, height: 800 };

const GREETING = `"""Greets people by name."""

import sys


def greet(name):
    return "Hello " + name


def main():
    for name in sys.argv[1:] or ("Ada", "Grace", "Linus"):
        print(greet(name))


if __name__ == "__main__":
    main()
`;
const PARTING = `"""Says good-bye."""

from greeting import greet


def part(name):
    return greet(name).replace("Hello", "Good-bye")
`;
const OPTIONS = {
  files: {
    'greeting.py': GREETING,
    'parting.py': PARTING,
    'README.md': '# Greetings\n\nGreets people by name.\n',
  },
  env: { ACP_DEMO_PACE: '0.2' },
  settings: {
    'editor.fontSize': 13,
    'workbench.colorTheme': process.env.ACP_PICTURES_THEME ?? 'Default Dark Modern',
    'workbench.layoutControl.enabled': false,
    'window.commandCenter': false,
  },
};

async function take(window: Workbench, name: string): Promise<void> {
  mkdirSync(MEDIA, { recursive: true });
  await window.page.mouse.move(SIZE.width / 2, SIZE.height - 4);
  // What turns or fades is at rest, and so is the cursor.
  await window.page.screenshot({ path: join(MEDIA, `${name}.png`), animations: 'disabled' });
}

/** Makes the side bar as wide as somebody would who talks to an agent. */
async function arrange(window: Workbench, width: number): Promise<void> {
  const { page } = window;
  await page.setViewportSize(SIZE);
  await window.activated();
  await window.openFile('greeting.py');
  await window.chat.open();
  const box = await page.locator('.part.sidebar').boundingBox();
  if (box) {
    await page.mouse.move(box.x + box.width, SIZE.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + width, SIZE.height / 2, { steps: 5 });
    await page.mouse.up();
  }
}

scenario('the agent at work, its question, the review', OPTIONS, async (window) => {
  const { chat, editors, page } = window;
  await arrange(window, 430);
  await chat.prompt('Greet everybody in the morning, and Barbara too');
  const yes = chat.frame.getByRole('button', { name: /^Yes\b/ }).first();
  await yes.waitFor();
  await until('the place is marked', () => window.statusBar('greeting.py:').isVisible());
  await take(window, 'question');
  await yes.click();
  await chat.says('wait for your review');
  await until('lenses are drawn', async () => (await editors.lenses('greeting.py'))[3]);
  await editors.place('greeting.py');
  await take(window, 'review');

  await window.command('ACP: Open All Changes');
  await page.locator('.multiDiffEditor, .multi-diff-editor').first().waitFor();
  await page.locator('.line-insert').first().waitFor();
  await take(window, 'changes');
});
