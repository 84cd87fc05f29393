import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { scenario, until, type Workbench } from './harness/index.ts';
import { press } from './harness/mouse.ts';
import { PYTHON } from './harness/places.ts';

const FILES = {
  'notes.txt': '',
  'greeting.py': 'def greet(name):\n    return "Hello " + name\n',
};
const WITHDRAWING = {
  command: PYTHON,
  args: [join(import.meta.dirname, 'agents/withdrawing.py')],
};

/** Types into the chat's prompt, sends it and goes elsewhere. */
async function ask(window: Workbench, text: string): Promise<void> {
  await window.activated();
  await window.chat.prompt(text);
  await window.showView('Explorer');
}

/** Opens the list of what waits, or the one question. */
async function showQuestions(window: Workbench, title: string): Promise<void> {
  await window.command('ACP: Show Waiting Questions');
  await window.quickPick.titled(title);
}

async function rows(window: Workbench): Promise<string[]> {
  return (await window.quickPick.items()).map(({ label }) => label);
}

/** Waits until a row of the list says this of the question. */
async function said(window: Workbench, words: string): Promise<void> {
  await until(`the list says "${words}"`, async () =>
    (await rows(window)).some((row) => row.includes(words)),
  );
}

scenario(
  'two questions at once are listed, approved by no chance, and answered one by one',
  { files: FILES },
  async (window) => {
    await ask(window, '/ask 2');
    await window.notifications.shown('Question 1 of 2');
    await window.notifications.shown('Question 2 of 2');
    await window.statusBar('2 questions').waitFor();
    for (const { buttons } of await window.notifications.all()) {
      assert.deepEqual(buttons, []);
    }

    await showQuestions(window, 'Agents wait for you');
    assert.deepEqual(await rows(window), [
      'demo asks for permission: Question 1 of 2',
      'demo asks for permission: Question 2 of 2',
    ]);
    await window.screenshot('questions');
    await window.quickPick.accept();
    await window.quickPick.titled('demo asks for permission');
    await said(window, 'Question 1 of 2');
    const keyboard = window.page.keyboard;
    for (let n = 0; n < 10; n += 1) {
      await keyboard.press('Enter');
      await keyboard.type('yes\n');
    }
    await said(window, 'Question 1 of 2');
    assert.equal(await window.statusBar('2 questions').isVisible(), true);

    await window.quickPick.choose('No');
    await said(window, 'Question 2 of 2');
    // What comes too early goes back to the first row.
    await until('it is answered by the keyboard', async () => {
      if (await window.quickPick.mark('Yes')) {
        await keyboard.press('Enter');
      }
      return until('it is taken', async () => !(await window.quickPick.isOpen()), 1).then(
        () => true,
        () => false,
      );
    });
    await window.chat.open();
    await window.chat.says('The answers: no, yes.');
    await until('nothing is asked any more', async () => {
      const left = await window.notifications.all();
      return left.length === 0;
    });
  },
);

scenario(
  'a question that is put away waits, and goes with its turn',
  { files: FILES },
  async (window) => {
    await ask(window, '/ask');
    await window.statusBar('1 question').waitFor();
    await showQuestions(window, 'demo asks for permission');
    await window.page.keyboard.press('Escape');
    await window.quickPick.closed();
    assert.equal(await window.statusBar('1 question').isVisible(), true);
    const notification = window.notifications.with('Question 1 of 1');
    await press(notification.getByText('Later'));
    await notification.waitFor({ state: 'hidden' });
    assert.equal(await window.statusBar('1 question').isVisible(), true);

    await window.command('ACP: Cancel the Turn');
    await window.statusBar('1 question').waitFor({ state: 'hidden' });
  },
);

scenario(
  'a question that is withdrawn closes wherever it shows',
  { settings: { 'acp.agents': { withdrawing: WITHDRAWING }, 'acp.defaultAgent': 'withdrawing' } },
  async (window) => {
    await ask(window, 'Go');
    await window.statusBar('1 question').waitFor();
    await showQuestions(window, 'withdrawing asks for permission');
    await window.notifications.with('withdrawing asks for permission').waitFor();
    writeFileSync(join(window.server.folder, 'withdraw'), '');
    await window.quickPick.closed();
    await window.statusBar('1 question').waitFor({ state: 'hidden' });
    await window.notifications.with('withdrawing asks for permission').waitFor({ state: 'hidden' });
  },
);

scenario(
  'a question that comes while the user types takes no key of it',
  { files: FILES, env: { ACP_DEMO_PACE: '2' } },
  async (window) => {
    await window.openFile('notes.txt');
    await ask(window, '/edit greeting.py');
    await window.editors.place('notes.txt');
    const question = window.statusBar('1 question');
    let typed = '';
    // Also for a while after it has come.
    for (let shown = 0; shown < 10; shown += (await question.isVisible()) ? 1 : 0) {
      await window.page.keyboard.type('yes\n');
      typed += 'yes\n';
      assert.ok(typed.length < 20_000, 'no question has come');
    }
    assert.equal(await question.isVisible(), true);
    await window.page.keyboard.press('Control+s');
    const notes = join(window.server.folder, 'notes.txt');
    await until('no key was lost', () => readFileSync(notes, 'utf8') === typed);
  },
);

scenario(
  'a change is seen beside before it is answered, and the focus stays',
  { files: FILES },
  async (window) => {
    await window.openFile('notes.txt');
    await ask(window, '/edit greeting.py');
    await window.notifications.shown('demo wants to change greeting.py');
    await window.editors.place('notes.txt');
    await showQuestions(window, 'wants to change files');
    const shown = () => window.editors.tab('greeting.py (demo asks)');
    await until('the change is shown', async () => (await shown())?.column === 2);
    await window.screenshot('question-edit');
    await window.page.keyboard.press('Escape');
    await window.quickPick.closed();
    await window.page.keyboard.type('here');
    await window.editors.reads('notes.txt', 'here');
    assert.equal(await window.statusBar('Paused').isVisible(), false);

    await window.command('ACP: Cancel the Turn');
    await until('the change is no more shown', async () => (await shown()) === undefined);
  },
);

scenario(
  'a command is shown to its end before it is answered',
  { files: FILES },
  async (window) => {
    const long = 'src/components/'.repeat(12);
    await ask(window, `/run echo $(date) [x](command:y) ${long}END`);
    assert.match(await window.notifications.shown('wants to run'), /echo \$\(date\) \[x\] \(comm/);
    await showQuestions(window, 'wants to run a command');
    const shown = (await rows(window)).join('');
    assert.ok(shown.includes('echo $(date) [x] (command:y)'), shown);
    assert.ok(shown.includes(`${long}END`), shown);
    assert.ok(shown.includes(`Folder: ${window.server.folder}`), shown);
    await window.screenshot('question-command');
  },
);

scenario('a notification leads to the question in the chat', { files: FILES }, async (window) => {
  await ask(window, '/ask');
  const notification = window.notifications.with('Question 1 of 1');
  await press(notification.getByText('Show…'));
  const yes = window.chat.button(/^Yes/);
  await yes.waitFor();
  await notification.waitFor({ state: 'hidden' });
  for (let n = 0; n < 10; n += 1) {
    await window.page.keyboard.press('Enter');
  }
  assert.equal(await window.statusBar('1 question').isVisible(), true);
  await window.screenshot('question-card');
  await until('the card takes the answer', async () => {
    await yes.click({ timeout: 1000 }).catch(() => undefined);
    return !(await window.statusBar('1 question').isVisible());
  });
  await window.chat.says('The answers: yes.');
});
