import assert from 'node:assert/strict';

import { scenario, until } from './harness/index.ts';

const FILES = {
  'greeting.py': 'def greet(name):\n    return "Hello " + name\n',
  'src/other.py': 'x = 1\n',
};
const ENV = { ACP_DEMO_PACE: '0.1' };

scenario(
  'a prompt begins a session, and its answer streams in',
  { files: FILES, env: ENV },
  async (window) => {
    await window.activated();
    await window.showView('Agents');
    const chat = window.webview();
    const prompt = chat.getByRole('combobox', { name: 'Prompt' });
    await prompt.click();
    await window.screenshot('empty');
    await prompt.pressSequentially('/read greeting.py');
    await prompt.press('Enter');
    await chat.getByRole('tab', { name: /read greeting/ }).waitFor();
    await until('the turn is over', async () =>
      ((await chat.getByRole('tab').getAttribute('aria-label')) ?? '').includes('idle'),
    );
    await window.screenshot('prompt');
    assert.equal(await prompt.inputValue(), '');
  },
);
