import assert from 'node:assert/strict';
import { mock, test } from 'node:test';

import { ago } from '../../src/ago.ts';
import { Batch, type Delivery, INTERVAL } from '../../src/chat/batch.ts';
import { asDraft, inFront } from '../../src/chat/draft.ts';
import { Drafts } from '../../src/chat/drafts.ts';
import { fromChat } from '../../src/chat/incoming.ts';
import { chatState, titleOf } from '../../src/chat/state.ts';
import type { EntryBlock, FileChange, StatusBlock } from '../../src/protocol.ts';
import type { Session } from '../../src/sessions/sessions.ts';

function session(more: Partial<Session> = {}): Session {
  return {
    sessionId: 's',
    agentSessionId: 'a',
    agent: 'demo',
    cwd: '/ws',
    status: null,
    commands: [],
    blocks: new Map(),
    changes: [],
    follow: null,
    asleep: null,
    ...more,
  };
}

function message(id: string, text: string, role: 'user' | 'agent' = 'user'): EntryBlock {
  return {
    id,
    kind: 'message',
    messageId: id,
    role,
    content: [{ type: 'text', text }],
    turn: 1,
  };
}

const STATUS: StatusBlock = {
  id: 'status',
  kind: 'status',
  status: 'running',
  stopReason: null,
  stopText: null,
  queue: [{ turnId: 't', text: 'later' }],
  title: null,
  usage: null,
  modes: null,
  configOptions: [],
};

test('a session is called as the sidecar calls it, else as it was', () => {
  const blocks = new Map([['1', message('1', 'Mend the tests')]]);
  const asleep = { title: 'Earlier', problem: null };
  const status = { ...STATUS, title: 'Tests' };
  assert.equal(titleOf(session({ blocks, status, asleep })), 'Tests');
  assert.equal(titleOf(session({ blocks, asleep })), 'Earlier');
  assert.equal(titleOf(session({ blocks, status: STATUS })), null);
});

test('the state counts what waits for review, proposed changes too', () => {
  const lines = { start: 0, lines: 1 };
  const hunk = { id: 'h', before: lines, after: lines };
  const change: FileChange = {
    uri: 'file:///ws/a',
    status: 'modified',
    oldUri: null,
    binary: false,
    hunks: [
      { ...hunk, state: 'waiting' },
      { ...hunk, state: 'conflict' },
    ],
    proposed: [{ ...hunk, text: 'x', state: 'proposed' }],
  };
  const state = chatState({
    sidecar: { state: 'running' },
    sessions: [session({ changes: [change], status: STATUS })],
    active: 's',
    agents: ['demo'],
    follows: false,
    starting: null,
  });
  const [view] = state.sessions;
  assert.ok(view);
  assert.equal(view.changes, 3);
  assert.equal(view.status, 'running');
  assert.deepEqual(view.queue, [{ turnId: 't', text: 'later' }]);
  assert.equal(state.followEnabled, false, 'as the settings say');
});

test('a flood of blocks is one message with the last state of each', () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    const blocks = new Map<string, EntryBlock>();
    const sent: Delivery[] = [];
    const batch = new Batch(
      () => blocks,
      (delivery) => sent.push(delivery),
    );
    batch.setOpen(true);
    for (let count = 1; count <= 100; count += 1) {
      blocks.set('1', message('1', 'x'.repeat(count)));
      batch.add('s', ['1']);
    }
    blocks.set('2', message('2', 'y'));
    batch.add('s', ['2']);
    assert.equal(sent.length, 0);
    mock.timers.tick(INTERVAL);
    assert.deepEqual(sent, [
      { sessionId: 's', blocks: [message('1', 'x'.repeat(100)), message('2', 'y')], reset: false },
    ]);
    mock.timers.tick(10 * INTERVAL);
    assert.equal(sent.length, 1);
  } finally {
    mock.timers.reset();
  }
});

test('a chat that cannot be seen is told once it can be, and nothing of closed sessions', () => {
  const open = new Map([['s', new Map([['1', message('1', 'x')]])]]);
  const sent: Delivery[] = [];
  const batch = new Batch(
    (sessionId) => open.get(sessionId),
    (delivery) => sent.push(delivery),
  );
  batch.add('s', ['1', 'gone']);
  batch.add('closed', ['1']);
  batch.flush();
  assert.equal(sent.length, 0);
  batch.setOpen(true);
  assert.deepEqual(sent, [{ sessionId: 's', blocks: [message('1', 'x')], reset: false }]);
  batch.reset('s');
  batch.add('s', ['1']);
  batch.flush();
  assert.equal(sent.at(-1)?.reset, true);
  batch.dispose();
});

test('what the page says is believed only where it has the shape of a message', () => {
  const prompt = { type: 'prompt', sessionId: null, agent: null, text: 'hi', images: [] };
  assert.deepEqual(fromChat(prompt), prompt);
  const image = { mimeType: 'image/png', data: 'AAAA' };
  assert.ok(fromChat({ ...prompt, images: [image] }));
  for (const bad of [
    null,
    'ready',
    [],
    { type: 'toString' },
    { type: 'unknown' },
    { ...prompt, text: 1 },
    { ...prompt, images: [{ ...image, mimeType: 'text/html' }] },
    { type: 'openPath', sessionId: 's', path: '/a', line: -1 },
    { type: 'openPath', sessionId: 's', path: '/a', line: '3' },
    { type: 'openLink', href: 'command:acp.showLog' },
    { type: 'openLink', href: 'file:///etc/passwd' },
    { type: 'cancel' },
    { type: 'setConfigOption', sessionId: 's', configId: 'c', value: {} },
    { type: 'answerForm', requestId: 'r', answer: { action: 'yes' } },
    { type: 'run', command: 'workbench.action.terminal.sendSequence' },
  ]) {
    assert.equal(fromChat(bad), null, JSON.stringify(bad));
  }
});

test('drafts are kept by session over a reload, and go with a session that is called otherwise', async () => {
  const kept = new Map<string, unknown>();
  const memento = {
    get: <T>(key: string, otherwise?: T) => (kept.get(key) ?? otherwise) as T,
    update: (key: string, value: unknown) => {
      kept.set(key, structuredClone(value));
      return Promise.resolve();
    },
  };
  const drafts = new Drafts(memento);
  const one = session();
  const two = session({ sessionId: 't', agentSessionId: 'b' });
  drafts.set(one, { text: 'for one', images: [] });
  drafts.set(two, { text: 'for two', images: [{ mimeType: 'image/png', data: 'AA' }] });
  drafts.set(null, { text: 'for none', images: [] });
  drafts.set(two, { text: '', images: [] });
  await drafts.save();

  const again = new Drafts(memento);
  const renamed = session({ sessionId: 'another', agentSessionId: 'a' });
  assert.equal(again.get(renamed).text, 'for one');
  assert.equal(again.get(null).text, 'for none');
  assert.deepEqual(again.get(two), { text: '', images: [] });
  again.move(renamed, two);
  assert.equal(again.get(two).text, 'for one');
  assert.equal(again.get(renamed).text, '');
  await again.save();
});

test('what could not be sent comes before what is typed since', () => {
  const image = { mimeType: 'image/png', data: 'AA' };
  const unsent = asDraft({
    text: 'first',
    content: [
      { type: 'image', ...image },
      { type: 'text', text: 'x' },
    ],
  });
  assert.deepEqual(inFront(unsent, { text: 'second', images: [] }), {
    text: 'first\n\nsecond',
    images: [image],
  });
  assert.equal(inFront(unsent, { text: '', images: [] }).text, 'first');
});

test('the time of a session is said in words', () => {
  const now = new Date('2026-11-30T12:00:00Z');
  const at = (time: string) => ago(new Date(time), now);
  assert.equal(at('2026-11-30T11:59:50Z'), 'just now');
  assert.equal(at('2026-11-30T12:01:40Z'), 'just now');
  assert.equal(at('2026-11-30T11:55:00Z'), '5 minutes ago');
  assert.equal(at('2026-11-30T09:59:55Z'), '2 hours ago');
  assert.equal(at('2026-11-27T12:00:00Z'), '3 days ago');
  assert.equal(at('2026-11-29T11:00:00Z'), 'yesterday');
  assert.equal(at('2026-01-02T00:00:00Z'), '2026-01-02');
  assert.equal(at('no time'), null);
});
