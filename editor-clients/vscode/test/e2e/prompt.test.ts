import { scenario, until, untilSame, type Workbench } from './harness/index.ts';

const FILES = {
  'greeting.py': 'def greet(name):\n    return "Hello " + name\n',
  'src/my notes.md': '# Notes\n',
};

async function untilTab({ chat }: Workbench, like: RegExp): Promise<void> {
  await until(`a tab is like ${String(like)}`, async () =>
    (await chat.tabs()).some((label) => like.test(label)),
  );
}

scenario(
  'a prompt begins a session; commands, files and modes are suggested',
  { files: FILES, env: { ACP_DEMO_PACE: '0' } },
  async (window) => {
    const { chat } = window;
    await chat.open();
    await chat.frame.getByRole('heading', { name: 'What shall be done?' }).waitFor();
    await window.screenshot('chat-empty');
    const suggestions = chat.frame.getByRole('listbox', { name: 'Suggestions' });
    const file = suggestions.getByRole('option', { name: /my notes\.md/ });
    await chat.field.pressSequentially('@notes');
    await file.waitFor();
    await chat.field.press('Escape');
    await chat.field.fill('');
    await chat.prompt('/show');
    await chat.says('The end.');
    await untilTab(window, /^\/show, demo, idle/);

    await chat.field.pressSequentially('/re');
    // Those for the first letter are there before those for the last.
    await until('what fits best is the first', async () =>
      (await suggestions.getByRole('option').allTextContents())[0]?.startsWith('/read'),
    );
    await window.screenshot('chat-completion');
    await chat.field.press('Tab');
    const reads = (text: string) =>
      untilSame('what the prompt reads', text, () => chat.field.inputValue());
    await reads('/read ');
    await chat.field.pressSequentially('@notes');
    await file.waitFor();
    await file.click();
    await reads('/read @"src/my notes.md"');
    await chat.field.press('Enter');
    await chat.frame.getByRole('button', { name: /^Read my notes\.md/ }).waitFor();

    await chat.frame.getByRole('button', { name: /^Mode: Ask before each edit/ }).click();
    await chat.frame.getByRole('option', { name: /^Edit without asking/ }).click();
    await chat.frame.getByRole('button', { name: 'Mode: Edit without asking' }).waitFor();
  },
);

scenario(
  'selected lines, and files, are named in the prompt',
  { files: FILES, env: { ACP_DEMO_PACE: '0' } },
  async (window) => {
    const { chat } = window;
    await chat.open();
    await chat.prompt('/show');
    await untilTab(window, /^\/show, demo, idle/);
    await window.openFile('greeting.py');
    await window.editors.place('greeting.py', 1);
    // A whole line, as a click on its number selects it: it ends at the beginning of the next.
    await window.page.keyboard.press('Home');
    await window.page.keyboard.press('Shift+ArrowDown');
    await window.command('ACP: Add Selection to Prompt');
    const reads = (text: string) =>
      until(`the prompt reads ${text}`, async () => (await chat.field.inputValue()) === text);
    await reads('@greeting.py:1 ');
    await window.openFile('src/my notes.md');
    await window.command('ACP: Add File to Prompt');
    await reads('@greeting.py:1 @"src/my notes.md" ');
  },
);

scenario(
  'prompts wait while a turn runs, and the turn can be stopped',
  { files: FILES, env: { ACP_DEMO_PACE: '0' } },
  async (window) => {
    const { chat } = window;
    await chat.open();
    await chat.prompt('/wait 600');
    await untilTab(window, /at work/);
    await chat.prompt('/read greeting.pi');
    const waiting = chat.frame.getByRole('list', { name: 'Waiting prompts' });
    await waiting.getByText('/read greeting.pi').waitFor();
    await chat.prompt('/create dropped');
    await waiting.getByText('/create dropped').waitFor();
    await window.screenshot('chat-queue');

    await waiting.getByRole('button', { name: /^Edit .*greeting\.pi/ }).click();
    const edited = waiting.getByRole('textbox', { name: 'Waiting prompt' });
    await edited.press('Backspace');
    await edited.pressSequentially('y');
    await edited.press('Enter');
    await waiting.getByText('/read greeting.py').waitFor();
    await waiting.getByRole('button', { name: /^Drop .*dropped/ }).click();
    await waiting.getByText('/create dropped').waitFor({ state: 'hidden' });

    await chat.frame.getByRole('button', { name: 'Cancel the turn' }).click();
    await chat.frame.getByRole('button', { name: /^Read greeting\.py/ }).waitFor();
    await untilTab(window, /idle/);
  },
);

scenario(
  'a second session has a prompt of its own, and what is typed outlives a reload',
  { files: FILES, env: { ACP_DEMO_PACE: '0' } },
  async (window) => {
    const { chat } = window;
    await chat.open();
    await chat.prompt('/read greeting.py');
    await chat.says(/^Read greeting\.py/);
    await untilTab(window, /^\/read greeting\.py, demo, idle/);
    await chat.field.pressSequentially('for the first');
    await window.command('ACP: New Session');
    await untilTab(window, /^New session with demo/);
    await until('the prompt is empty', async () => (await chat.field.inputValue()) === '');
    await chat.field.pressSequentially('for the second');
    await chat.frame.getByRole('tab', { name: /^\/read/ }).click();
    await until(
      'the first prompt is back',
      async () => (await chat.field.inputValue()) === 'for the first',
    );
    // What is typed is kept a moment later: the user looks at something else before.
    await window.openFile('greeting.py');
    await window.reload();
    await chat.open();
    await until(
      'the prompt is as it was',
      async () => (await chat.field.inputValue()) === 'for the first',
    );
    await chat.frame.getByRole('button', { name: /^Read greeting\.py/ }).waitFor();
  },
);
