import assert from 'node:assert/strict';

import { kill, scenario, until, untilSame, type Workbench } from './harness/index.ts';

const FILES = { 'notes.txt': 'one\n' };
const QUICK = { ACP_DEMO_PACE: '0.1' };
/** Lets the turn go on for as long as a test takes. */
const LONG = '/wait 600';
/** What the agent does, not the prompt: until then the session may be idle since before. */
const READ = /^Read notes\.txt/;

async function agent(window: Workbench): Promise<number> {
  const found = await until(
    'an agent runs',
    () => window.server.processes('acp_sidecar demo-agent')[0],
  );
  return found.pid;
}

scenario(
  'an agent that is killed is told, and the next prompt starts another',
  { files: FILES, env: QUICK },
  async (window) => {
    const { chat, server } = window;
    await chat.prompt(LONG);
    await chat.is('at work');
    const first = await agent(window);
    kill(first, 'SIGKILL');
    await chat.is('the agent is gone');
    await window.notifications.shown(/demo/);
    await window.screenshot('agent-killed');
    await until('what the agent had started has ended', () => {
      const left = server.processes('-c import sys,time');
      return left.length === 0;
    });

    await chat.prompt('/read notes.txt');
    await chat.says(READ);
    await chat.is('idle');
    assert.notEqual(await agent(window), first);
  },
);

scenario(
  'after a reload in the middle of a turn the conversation and what was typed are there',
  { files: FILES, env: QUICK },
  async (window) => {
    const { chat, page } = window;
    await chat.prompt('/read notes.txt');
    await chat.says(READ);
    await chat.is('idle');
    await chat.prompt(LONG);
    await chat.is('at work');
    await chat.field.click();
    await page.keyboard.type('and then, when it is done');
    // Meanwhile the agent counts.
    await chat.says(/\b8\b/);
    await window.screenshot('before-reload');

    await window.reload();
    await chat.field.waitFor();
    await chat.says(LONG);
    await chat.says('/read notes.txt');
    await untilSame('what was typed', 'and then, when it is done', () => chat.field.inputValue());
    await window.screenshot('after-reload');
    await until(
      'one sidecar runs',
      () => window.server.processes('acp_sidecar serve').length === 1,
    );

    // The session is one in which one can go on.
    await chat.field.fill('');
    await chat.prompt('/refuse');
    await chat.says('I would rather not.');
  },
);

scenario(
  'after a crash of the sidecar its sessions are back',
  { files: FILES, env: QUICK },
  async (window) => {
    const { chat, server } = window;
    await chat.prompt('/read notes.txt');
    await chat.says(READ);
    await chat.is('idle');
    const before = await agent(window);
    const [sidecar] = server.processes('acp_sidecar serve');
    assert.ok(sidecar);
    kill(sidecar.pid, 'SIGKILL');
    await until('another sidecar runs', () =>
      server.processes('acp_sidecar serve').some(({ pid }) => pid !== sidecar.pid),
    );
    await until('the agent of the first has ended', () =>
      server.processes('acp_sidecar demo-agent').every(({ pid }) => pid !== before),
    );

    await chat.prompt('/refuse');
    await chat.says('I would rather not.');
    await chat.says('/read notes.txt');
    assert.equal(await chat.frame.getByRole('tab').count(), 1);
  },
);
