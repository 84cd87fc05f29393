import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { scenario, until, untilSame, type Workbench } from './harness/index.ts';
import { click } from './harness/mouse.ts';
import { PYTHON } from './harness/places.ts';

const BEFORE = `"""Greets people by name."""


def greet(name):
    return "Hello " + name


def main():
    for name in ("Ada", "Grace", "Linus"):
        print(greet(name))
`;
const AFTER = BEFORE.replace('"Hello " + name', 'f"Good morning, {name}!"').replace(
  '"Ada", ',
  '"Ada", "Barbara", ',
);
const ONLY_NAMES = BEFORE.replace('"Ada", ', '"Ada", "Barbara", ');

const OPTIONS = {
  files: { 'greeting.py': BEFORE, 'old.txt': 'one\ntwo\n' },
  settings: {
    'acp.agents': {
      scribe: { command: PYTHON, args: [join(import.meta.dirname, 'agents/scribe.py')] },
    },
    'acp.defaultAgent': 'scribe',
    // One editor a file.
    'acp.follow.enabled': false,
  },
};

async function begin(window: Workbench): Promise<void> {
  await window.activated();
  await window.openFile('greeting.py');
  await until('the sidecar runs', () => window.server.processes('acp_sidecar serve'));
}

/** Has the agent write these texts. */
async function write(window: Workbench, texts: Record<string, unknown>): Promise<void> {
  await window.chat.prompt(JSON.stringify(texts));
}

/** The number on the icon of the agents' views. */
async function badge(window: Workbench): Promise<string> {
  const tab = window.page.locator('.activitybar').getByRole('tab', { name: /^Agents/ });
  return (await tab.locator('.badge-content').allInnerTexts()).join('').trim();
}

async function waits(window: Workbench, count: string): Promise<void> {
  await untilSame(`${count || 'nothing'} waits for review`, count, () => badge(window));
}

/** Does something with a row of the side bar, by the button that it has. */
async function onRow(window: Workbench, row: string, action: string): Promise<void> {
  const found = window.page.locator('.sidebar .monaco-list-row').filter({ hasText: row }).first();
  await found.hover();
  await click(found.getByRole('button', { name: action }));
  await window.page.mouse.move(700, 5);
}

/** What a file says on the disk; empty where there is none. */
function onDisk(window: Workbench, name = 'greeting.py'): string {
  const path = join(window.server.folder, name);
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

async function diskReads(window: Workbench, text: string, name = 'greeting.py'): Promise<void> {
  await untilSame(`${name} reads so on the disk`, text, () => onDisk(window, name));
}

scenario('one change is kept, another reverted, and both undone', OPTIONS, async (window) => {
  await begin(window);
  await write(window, { 'greeting.py': AFTER });
  await window.editors.reads('greeting.py', AFTER);
  await waits(window, '2');
  const rows = [
    'greeting.py−2 +2',
    '5: return f"Good morning, {name}!"−1 +1',
    '9: for name in ("Ada", "Barbara", "Grace", "Linus"):−1 +1',
  ];
  await untilSame('the changes are listed', rows.join('\n'), async () =>
    (await window.sideBar()).filter((row) => row.includes('−')).join('\n'),
  );
  await until('lenses are drawn', async () => (await window.editors.lenses('greeting.py'))[7]);
  await window.screenshot('review-changes');

  await window.editors.lens('greeting.py', 'Next (2 of 2)');
  await untilSame(
    'the cursor is at the first change',
    'Ln 5',
    async () => (await window.statusBar(/^Ln /).innerText()).split(',')[0] ?? '',
  );
  // The second change is kept by its lens.
  await window.editors.lens('greeting.py', /^Keep −1 \+1$/, 1);
  await waits(window, '1');
  await window.editors.reads('greeting.py', AFTER);

  await onRow(window, 'Good morning', 'Revert Change');
  await waits(window, '');
  await window.editors.reads('greeting.py', ONLY_NAMES);
  await diskReads(window, ONLY_NAMES);

  await window.command('ACP: Undo Last Keep or Revert');
  await waits(window, '1');
  await window.editors.reads('greeting.py', AFTER);
  await window.command('ACP: Undo Last Keep or Revert');
  await waits(window, '2');
  await diskReads(window, AFTER);
});

scenario('what the user types stays through a revert, and its undo', OPTIONS, async (window) => {
  await begin(window);
  await write(window, { 'greeting.py': AFTER });
  await window.editors.reads('greeting.py', AFTER);
  await waits(window, '2');
  await window.editors.type('greeting.py', '  # mine', 1);
  await window.editors.place('greeting.py', 5);
  await window.page.keyboard.press('Control+k');
  await window.page.keyboard.press('x');
  await waits(window, '1');
  const mine = (text: string) => text.replace('by name."""', 'by name."""  # mine');
  await window.editors.reads('greeting.py', mine(ONLY_NAMES));
  assert.equal(onDisk(window), AFTER);
  assert.equal((await window.editors.tab('greeting.py'))?.dirty, true);

  // VS Code's own undo takes the revert back, and nothing of the user's.
  await window.page.keyboard.press('Control+z');
  await window.editors.reads('greeting.py', mine(AFTER));
  await waits(window, '2');
  await window.page.keyboard.press('Control+y');
  await window.editors.reads('greeting.py', mine(ONLY_NAMES));
  await waits(window, '1');
  await window.command('ACP: Undo Last Keep or Revert');
  await window.editors.reads('greeting.py', mine(AFTER));
  await waits(window, '2');
  await window.editors.save();
});

scenario(
  'the way goes from change to change through all files, and past what was just typed',
  OPTIONS,
  async (window) => {
    await begin(window);
    await write(window, { 'greeting.py': AFTER, 'new.py': 'print(1)\n' });
    await waits(window, '3');
    await window.editors.reads('greeting.py', AFTER);
    const go = async (
      direction: 'Next' | 'Previous',
      file: string,
      line: number,
      which: string,
    ) => {
      await window.command(`ACP: Go to ${direction} Change`);
      await window.editors.shown(file);
      await untilSame(
        `the cursor is at change ${which}`,
        `Ln ${line}`,
        async () => (await window.statusBar(/^Ln /).innerText()).split(',')[0] ?? '',
      );
      await window.statusBar(`Change ${which}`).waitFor();
    };
    await window.editors.type('greeting.py', '\n# mine', 1);
    await go('Next', 'greeting.py', 6, '1 of 3');
    await go('Next', 'greeting.py', 10, '2 of 3');
    await go('Next', 'new.py', 1, '3 of 3');
    await go('Next', 'greeting.py', 6, '1 of 3');
    await go('Previous', 'new.py', 1, '3 of 3');
    await go('Previous', 'greeting.py', 10, '2 of 3');
    await window.editors.save();
  },
);

scenario('all changes are compared, reverted at once, and restored', OPTIONS, async (window) => {
  await begin(window);
  await write(window, { 'greeting.py': AFTER, 'new.py': 'print(1)\n', 'old.txt': null });
  await waits(window, '4');
  await window.command('ACP: Open All Changes');
  const title = (
    await until('all files are compared', async () =>
      (await window.editors.tabs()).find((tab) => tab.name.includes('(3 files)')),
    )
  ).name;
  assert.match(title, /^Changes of /);
  await window.page.getByText('return "Hello " + name').first().waitFor();
  await window.screenshot('review-all-changes');

  await window.openFile('greeting.py');
  await window.command('ACP: Compare with Before the Agent');
  await until('the file is compared', () => window.editors.tab("greeting.py (agent's changes)"));

  await window.command('ACP: Revert All Changes…');
  assert.match(await window.dialog.shown(), /Revert 4 changes in 3 files\?/);
  await window.dialog.answer('Revert All');
  await waits(window, '');
  await diskReads(window, BEFORE);
  await diskReads(window, 'one\ntwo\n', 'old.txt');
  await diskReads(window, '', 'new.py');

  await window.command('ACP: Undo Last Keep or Revert');
  await waits(window, '4');
  await diskReads(window, AFTER);
  await diskReads(window, '', 'old.txt');

  await write(window, { 'greeting.py': `${AFTER}\n\nmain()\n` });
  await waits(window, '5');
  await window.command('ACP: Restore Checkpoint…');
  await window.quickPick.titled('Bring the files back');
  assert.equal((await window.quickPick.items()).length, 2);
  await window.quickPick.accept();
  assert.match(await window.dialog.shown(), /Change greeting\.py/);
  await window.dialog.answer('Restore');
  await waits(window, '4');
  await diskReads(window, AFTER);
});

scenario(
  'with review before writing one part is applied, another rejected',
  { ...OPTIONS, settings: { ...OPTIONS.settings, 'acp.review.mode': 'before' } },
  async (window) => {
    await begin(window);
    await write(window, { 'greeting.py': AFTER });
    await waits(window, '2');
    await window.screenshot('review-proposed');
    assert.equal(onDisk(window), BEFORE);
    await window.command('ACP: Compare with Before the Agent');
    await until('what it would like is compared', async () =>
      (await window.editors.tabs()).some(({ name }) => name.includes('would like to write')),
    );
    await onRow(window, 'Good morning', 'Reject Proposed Change');
    await waits(window, '1');
    await onRow(window, 'Barbara', 'Apply Proposed Change');
    await diskReads(window, ONLY_NAMES);
  },
);

scenario(
  'the mouse over a place shows the lines that went, and reverts them',
  OPTIONS,
  async (window) => {
    const shorter = BEFORE.replace('    return "Hello " + name\n', '');
    await begin(window);
    await write(window, { 'greeting.py': shorter });
    await waits(window, '1');
    await window.editors.reads('greeting.py', shorter);
    const below = window.editors.of('greeting.py').locator('.view-line').nth(4);
    const hover = window.page.locator('.monaco-hover').filter({ hasText: 'scribe removed 1 line' });
    await until('the old line is shown', async () => {
      await window.page.mouse.move(700, 5);
      await below.hover({ position: { x: 1, y: 8 } });
      return hover
        .getByText('return "Hello " + name')
        .waitFor({ timeout: 3000 })
        .then(
          () => true,
          () => false,
        );
    });
    await window.screenshot('review-hover');
    await click(hover.getByRole('link', { name: 'Revert' }));
    await waits(window, '');
    await window.editors.reads('greeting.py', BEFORE);
    await diskReads(window, BEFORE);
  },
);
