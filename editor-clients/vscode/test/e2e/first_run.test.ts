import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';

import { scenario, until } from './harness/index.ts';
import { press } from './harness/mouse.ts';
import { PYTHON } from './harness/places.ts';

/** The PATH of somebody who has a Python, and no sidecar in it. */
const folder = execFileSync(PYTHON, ['-c', 'import sys; print(sys.base_prefix)'], {
  encoding: 'utf8',
});
const PATH = `${folder.trim()}/bin:/usr/bin:/bin`;
const SETTINGS = { 'acp.pythonPath': undefined };
const OFFERED = /does not have it yet/;

scenario(
  'who has no sidecar is offered one, and the demo agent answers',
  { settings: SETTINGS, env: { PATH, ACP_DEMO_PACE: '0.1' }, files: { 'notes.txt': 'one\n' } },
  async (window) => {
    const { chat, notifications, server } = window;
    await notifications.shown(OFFERED);
    await window.screenshot('first-run');
    assert.deepEqual(server.processes('acp_sidecar'), []);

    await notifications.answer(OFFERED, 'Make an Environment');
    const own = `${server.globalStorage}/acp-sidecar.acp-sidecar/environment-`;
    await until(
      'the sidecar runs in the new environment',
      () => server.processes('acp_sidecar serve')[0]?.command.startsWith(own),
      120,
    );

    await chat.prompt('/refuse');
    await chat.says('I would rather not.');
    await window.screenshot('first-answer');
  },
);

scenario(
  'without a network it is said what is missing',
  {
    settings: SETTINGS,
    env: {
      PATH,
      PIP_CONFIG_FILE: '/dev/null',
      PIP_FIND_LINKS: undefined,
      PIP_EXTRA_INDEX_URL: undefined,
      PIP_INDEX_URL: 'http://127.0.0.1:9/simple',
      PIP_RETRIES: '1',
    },
  },
  async (window) => {
    const { notifications, server } = window;
    await notifications.answer(OFFERED, 'Make an Environment');
    const failed = /the package index cannot be reached/;
    const said = await notifications.shown(failed);
    assert.match(said, /Go online and try again/);
    assert.match(said, /acp_sidecar-.*\.whl/);
    await window.screenshot('first-run-offline');
    assert.deepEqual(server.processes('acp_sidecar'), []);

    // It can be tried again at once.
    await notifications.answer(failed, 'Try Again');
    await notifications.with(failed).waitFor({ state: 'hidden' });
    await notifications.shown(failed);
  },
);

scenario(
  'who has not installed the default agent is told how, and gets no other in its place',
  { settings: { 'acp.defaultAgent': 'claude' }, env: { PATH } },
  async (window) => {
    const { chat, page } = window;
    await chat.open();
    await press(chat.field);
    await page.keyboard.type('who are you?');
    // It is refused at once, and then what was typed is there again.
    await press(chat.button('Send'));
    const said = await window.notifications.shown(/claude is not there/);
    assert.match(said, /npm install -g @agentclientprotocol\/claude-agent-acp/);
    assert.deepEqual(window.server.processes('acp_sidecar demo-agent'), []);

    await window.chat.frame.getByRole('button', { name: 'New session' }).click();
    const offered = window.chat.frame.getByRole('option');
    await offered.first().waitFor();
    assert.deepEqual(await offered.allInnerTexts(), ['claude', 'demo']);
  },
);
