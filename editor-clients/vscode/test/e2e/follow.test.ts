import assert from 'node:assert/strict';

import type { Locator } from 'playwright-core';

import { scenario, until, untilSame, type Workbench } from './harness/index.ts';

const LINES = Array.from({ length: 200 }, (_, index) => `line_${index + 1} = ${index + 1}`);
const FILES = {
  'mine.py': 'mine = 1\n',
  'one.py': `${LINES.join('\n')}\n`,
  'two.py': `${LINES.join('\n')}\n`,
};
const TYPED = 'abcdefghi '.repeat(20);

/** Keys that do something with the agent from wherever the focus is. */
const KEYS = {
  F1: ['acp.session.prompt', { text: '/read one.py:120', wait: false }],
  F2: ['acp.session.prompt', { text: '/read two.py:60', wait: false }],
  /** Asks, so that the agent is at line 200 until it is answered or cancelled. */
  F3: ['acp.session.prompt', { text: '/edit two.py', wait: false }],
  F4: ['acp.session.cancel', {}],
} as const;
const OPTIONS = {
  files: FILES,
  env: { ACP_DEMO_PACE: '0.5' },
  settings: {
    'terminal.integrated.commandsToSkipShell': ['acp.session.prompt', 'acp.session.cancel'],
  },
  keybindings: Object.entries(KEYS).map(([key, [command, args]]) => ({
    key: `ctrl+${key.toLowerCase()}`,
    command,
    args,
  })),
};

async function session(window: Workbench): Promise<void> {
  await window.chat.prompt('/refuse');
  await window.chat.says('I would rather not.');
  await eye(window).waitFor();
}

async function press(window: Workbench, ...keys: (keyof typeof KEYS)[]): Promise<void> {
  for (const key of keys) {
    await window.page.keyboard.press(`Control+${key}`);
  }
}

function eye(window: Workbench): Locator {
  return window.page.locator('#acp-sidecar\\.acp-sidecar\\.acp\\.follow');
}

async function eyeSays(window: Workbench, words: string): Promise<void> {
  await until(`the eye says "${words}"`, async () =>
    (await eye(window).innerText()).includes(words),
  );
}

/** Waits until the agent is there, and VS Code has shown the place and is done with it. */
async function followed(window: Workbench, place: string): Promise<void> {
  await until(`${place} is shown`, async () => {
    const label = (await eye(window).locator('[aria-label]').getAttribute('aria-label')) ?? '';
    return label.includes(place) && !label.includes('Not shown');
  });
}

/** The lines of a file behind which an agent's name stands, and what it says. */
async function marks(window: Workbench, name: string): Promise<string> {
  const lines = window.page.locator(
    `.editor-group-container .monaco-editor[data-uri$="/${name}"] .view-line`,
  );
  const found = await lines.evaluateAll((all) =>
    all.flatMap((line) =>
      [...line.querySelectorAll('span')].flatMap((span) => {
        const words = getComputedStyle(span, '::after').content;
        return words.includes('●') ? [`${line.textContent} ${words.replaceAll('"', '')}`] : [];
      }),
    ),
  );
  return found.join('; ').replaceAll('\u00a0', ' ');
}

async function marked(window: Workbench, name: string, words: string): Promise<void> {
  await untilSame(`the mark in ${name}`, words, () => marks(window, name));
}

/** Whether the ruler at the right of a file has something in the colour of the agents. */
async function ruled(window: Workbench, name: string): Promise<boolean> {
  return window.editors
    .of(name)
    .locator('canvas.decorationsOverviewRuler')
    .evaluate((canvas) => {
      const { width, height } = canvas as HTMLCanvasElement;
      const context = (canvas as HTMLCanvasElement).getContext('2d');
      const { data } = context?.getImageData(0, 0, width, height) ?? { data: [] };
      for (let at = 0; at + 3 < data.length; at += 4) {
        const [red = 0, green = 0, blue = 0, alpha = 0] = data.slice(at, at + 4);
        if (alpha > 200 && blue > 200 && green < 150 && red > 100) {
          return true;
        }
      }
      return false;
    });
}

async function wheel(window: Workbench, name: string, by: number): Promise<void> {
  const box = await window.editors.of(name).boundingBox();
  assert.ok(box);
  await window.page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await window.page.mouse.wheel(0, by);
}

scenario(
  'keys go where the user types while the agent is shown beside',
  OPTIONS,
  async (window) => {
    const { editors, page } = window;
    await window.openFile('mine.py');
    await session(window);
    await editors.place('mine.py');
    await press(window, 'F1', 'F2', 'F1', 'F2', 'F3');
    await page.keyboard.type(TYPED, { delay: 30 });
    await untilSame(
      'all keys have arrived',
      TYPED,
      async () => (await editors.lines('mine.py')).at(-1) ?? '',
    );
    await marked(window, 'two.py', 'line_200 = 200 ● demo edits');
    assert.deepEqual(
      (await editors.tabs()).map(({ name, column, active, preview }) => ({
        name,
        column,
        active,
        preview,
      })),
      [
        { name: 'mine.py', column: 1, active: true, preview: false },
        { name: 'two.py', column: 2, active: false, preview: true },
      ],
    );
    await until('the ruler shows the place', () => ruled(window, 'two.py'));
    await eyeSays(window, 'two.py:200');
    await window.screenshot('follow-light');
    await press(window, 'F4');
    await marked(window, 'two.py', '');
  },
);

scenario(
  'keys go to the terminal, a name or the chat while the agent is shown',
  OPTIONS,
  async (window) => {
    const { editors, page } = window;
    await window.openFile('mine.py');
    await session(window);
    await window.command('Terminal: Create New Terminal');
    const terminal = page.locator('.terminal-wrapper.active .xterm-helper-textarea');
    await window.terminalHasFocus();
    await press(window, 'F1', 'F2', 'F3');
    await page.keyboard.type('echo ', { delay: 20 });
    await page.keyboard.type('x'.repeat(150), { delay: 20 });
    await page.keyboard.type(' > typed.txt\n');
    await marked(window, 'two.py', 'line_200 = 200 ● demo edits');
    assert.ok(await terminal.evaluate((it) => it === document.activeElement));
    await window.screenshot('follow-terminal');
    await press(window, 'F4');
    await window.openFile('typed.txt');
    await editors.reads('typed.txt', `${'x'.repeat(150)}\n`);

    await window.showView('Explorer');
    const name = await window.rename(
      page.locator('.explorer-folders-view .monaco-list-row', { hasText: 'one.py' }),
    );
    await press(window, 'F1', 'F2', 'F3');
    await page.keyboard.press('Control+a');
    await page.keyboard.type('a_name_that_is_long_enough_for_the_agent_to_go_somewhere_else.py', {
      delay: 50,
    });
    await marked(window, 'two.py', 'line_200 = 200 ● demo edits');
    assert.equal(
      await name.inputValue(),
      'a_name_that_is_long_enough_for_the_agent_to_go_somewhere_else.py',
    );
    assert.ok(await name.evaluate((it) => it === document.activeElement));
    await page.keyboard.press('Escape');
    await press(window, 'F4');
  },
);

scenario(
  'the user’s hand in the agent’s column pauses until the next prompt',
  OPTIONS,
  async (window) => {
    const { editors, page } = window;
    await window.openFile('mine.py');
    await session(window);
    const acts: [string, () => Promise<void>][] = [
      ['scrolls by one notch', () => wheel(window, 'two.py', 60)],
      [
        'clicks',
        async () => {
          await editors.of('two.py').locator('.view-line').nth(3).click();
        },
      ],
      ['goes there by a key', () => page.keyboard.press('Control+2')],
    ];
    for (const [act, does] of acts) {
      await editors.place('mine.py');
      await press(window, 'F1', 'F2', 'F3');
      await marked(window, 'two.py', 'line_200 = 200 ● demo edits');
      await followed(window, 'two.py:200');
      assert.ok(!(await eye(window).innerText()).includes('Paused'), 'reveals pause nothing');
      await does();
      await eyeSays(window, 'Paused');
      await window.screenshot(`follow-paused-${act}`);
      await press(window, 'F4');
    }
    await editors.place('mine.py');
    await press(window, 'F3');
    await marked(window, 'two.py', 'line_200 = 200 ● demo edits');
    await followed(window, 'two.py:200');
    await window.openFile('one.py');
    assert.ok(
      !(await eye(window).innerText()).includes('Paused'),
      'the user’s own tabs pause nothing',
    );
    await wheel(window, 'two.py', 300);
    await eyeSays(window, 'Paused');
    await eye(window).click();
    await until('it goes on', async () => !(await eye(window).innerText()).includes('Paused'));
    await eye(window).click();
    await eyeSays(window, 'Not following');
    await editors.place('one.py', 1);
    await press(window, 'F4', 'F2', 'F3');
    await eyeSays(window, 'two.py:200');
    assert.equal(await marks(window, 'two.py'), '');
    assert.deepEqual(
      (await editors.tabs()).filter(({ shown }) => shown).map(({ name, column }) => [name, column]),
      [
        ['one.py', 1],
        ['two.py', 2],
      ],
    );
  },
);

scenario(
  'the agent in the user’s own file, without previews',
  { ...OPTIONS, settings: { 'workbench.editor.enablePreview': false } },
  async (window) => {
    const { editors, page } = window;
    await window.openFile('two.py');
    await session(window);
    await editors.place('two.py', 2);
    await press(window, 'F1', 'F2', 'F3');
    await page.keyboard.type(' # mine, and nobody else’s', { delay: 60 });
    await marked(window, 'two.py', 'line_200 = 200 ● demo edits');
    assert.equal((await editors.lines('two.py'))[1], 'line_2 = 2 # mine, and nobody else’s');
    assert.deepEqual(
      (await editors.tabs()).map(({ name, column, active }) => [name, column, active]),
      [
        ['two.py', 1, true],
        ['two.py', 2, false],
      ],
      'no tab of the agent’s is left behind',
    );
    await window.screenshot('follow-same-file');
  },
);
