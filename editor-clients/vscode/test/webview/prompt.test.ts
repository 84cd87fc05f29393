import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import type { Locator } from 'playwright-core';

import type { FromChat } from '../../src/chat/messages.ts';
import type { ConfigOption, EntryBlock } from '../../src/protocol.ts';
import { type Chat, Chats, message, permission, question } from './harness.ts';

const RESULTS = path.join(import.meta.dirname, '../../test-results');
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';

const AXE = readFileSync(
  path.join(import.meta.dirname, '../../node_modules/axe-core/axe.min.js'),
  'utf8',
);

let chats: Chats;

before(async () => {
  mkdirSync(RESULTS, { recursive: true });
  chats = await Chats.start('whole');
});

after(async () => {
  await chats.close();
});

const field = ({ page }: Chat) => page.getByRole('textbox', { name: 'Prompt' });

async function last<T extends FromChat['type']>(chat: Chat, type: T) {
  return (await chat.sent(type)).at(-1);
}

const MODEL: ConfigOption = {
  id: 'model',
  name: 'Model',
  category: 'model',
  type: 'select',
  currentValue: 'large',
  options: [
    {
      group: 'a',
      name: 'Of house A',
      options: [
        { value: 'large', name: 'Large', description: 'Thinks long' },
        { value: 'small', name: 'Small' },
      ],
    },
    { group: 'b', name: 'Of house B', options: [{ value: 'other', name: 'Other' }] },
  ],
};
const THINK: ConfigOption = { id: 'think', name: 'Think', type: 'boolean', currentValue: false };
const MODES = {
  currentModeId: 'ask',
  availableModes: [
    { id: 'ask', name: 'Ask first' },
    { id: 'edit', name: 'Edit without asking' },
  ],
};
const SAID: EntryBlock = {
  id: 'm',
  kind: 'message',
  messageId: 'm',
  role: 'user',
  content: [{ type: 'text', text: 'The first prompt' }],
  turn: 1,
};

test('Enter sends, Shift+Enter does not, nor does Enter that ends a composition', async () => {
  const chat = await chats.open();
  await field(chat).fill('one');
  await field(chat).press('Shift+Enter');
  await field(chat).pressSequentially('two');
  assert.equal(await field(chat).inputValue(), 'one\ntwo');
  await field(chat).dispatchEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true });
  assert.equal((await chat.sent('prompt')).length, 0);
  await field(chat).press('Enter');
  assert.deepEqual(await last(chat, 'prompt'), {
    type: 'prompt',
    sessionId: 's',
    agent: null,
    text: 'one\ntwo',
    images: [],
  });
  assert.equal(await field(chat).inputValue(), '');
  await field(chat).press('Enter');
  assert.equal((await chat.sent('prompt')).length, 1);
  chat.assertQuiet();
});

test('what could not be sent is put back in front of what is typed since', async () => {
  const chat = await chats.open();
  await field(chat).fill('more');
  const draft = { text: 'lost?', images: [{ mimeType: 'image/png', data: PNG }] };
  await chat.receive({ type: 'putBack', sessionId: 's', draft });
  assert.equal(await field(chat).inputValue(), 'lost?\n\nmore');
  assert.equal(await chat.page.getByRole('img', { name: 'Picture 1' }).count(), 1);
  assert.equal((await last(chat, 'draft'))?.draft.text, 'lost?\n\nmore');
  await chat.page.getByRole('button', { name: 'Remove picture 1' }).press('Enter');
  assert.equal(await field(chat).evaluate((it) => it === document.activeElement), true);
  await field(chat).press('Enter');
  assert.deepEqual((await last(chat, 'prompt'))?.images, []);
});

test('what is taken of the suggestions just after a letter is what fits that letter', async () => {
  const chat = await chats.open();
  const command = (label: string, end: number) => ({
    label,
    text: `${label} `,
    detail: null,
    kind: 'command' as const,
    start: 0,
    end,
  });
  const answer = async (...items: ReturnType<typeof command>[]) =>
    chat.receive({ type: 'completions', id: (await last(chat, 'complete'))?.id ?? 0, items });
  await field(chat).pressSequentially('/r');
  await answer(command('/run', 2), command('/read', 2));
  await field(chat).pressSequentially('e');
  await field(chat).press('Tab');
  await answer(command('/read', 3), command('/refuse', 3));
  assert.equal(await field(chat).inputValue(), '/read ');

  await field(chat).fill('/refus');
  await answer(command('/refuse', 6));
  await field(chat).pressSequentially('ed');
  await field(chat).press('Enter');
  assert.equal((await chat.sent('prompt')).length, 0);
  await answer();
  assert.equal((await last(chat, 'prompt'))?.text, '/refused');
  chat.assertQuiet();
});

test('a click is heard also where what is pressed is drawn anew meanwhile', async () => {
  const chat = await chats.open();
  const text = 'Look at [the file](a.py)';
  await chat.blocks([message('m', text)]);
  await field(chat).fill('and then');
  const press = async (target: Locator, meanwhile: () => Promise<void>) => {
    await target.hover();
    await chat.page.mouse.down();
    await meanwhile();
    await chat.settled();
    await chat.page.mouse.up();
  };
  await press(chat.page.getByRole('link', { name: 'the file' }), () =>
    chat.blocks([message('m', `${text} and${' more'.repeat(400)}`)]),
  );
  assert.equal((await chat.sent('openPath')).length, 1);
  await chat.page.getByText('and more more').first().waitFor();
  await press(chat.page.getByRole('tab', { selected: true }), () => chat.state({ title: 'Other' }));
  assert.equal((await chat.sent('selectSession')).length, 1);
  await press(chat.page.getByRole('button', { name: 'Send' }), () =>
    chat.state({ title: 'Another' }),
  );
  assert.equal((await last(chat, 'prompt'))?.text, 'and then');
  chat.assertQuiet();
});

test('suggestions: late ones are dropped, arrows choose, Tab takes, Escape closes', async () => {
  const chat = await chats.open();
  await field(chat).pressSequentially('😀 @a');
  const asked = await chat.sent('complete');
  const [, now] = [asked.at(-2), asked.at(-1)];
  assert.deepEqual(now && { text: now.text, cursor: now.cursor }, { text: '😀 @a', cursor: 5 });
  const item = (label: string) => ({
    label,
    text: `@${label}`,
    detail: null,
    kind: 'file' as const,
    start: 3,
    end: 5,
  });
  const list = chat.page.getByRole('listbox', { name: 'Suggestions' });
  await chat.receive({ type: 'completions', id: (now?.id ?? 0) - 1, items: [item('late.py')] });
  assert.equal(await list.count(), 0);
  const items = [item('a.py'), item('src/ab.py')];
  await chat.receive({ type: 'completions', id: now?.id ?? 0, items });
  await field(chat).press('ArrowDown');
  const active = await field(chat).getAttribute('aria-activedescendant');
  assert.match((await chat.page.locator(`#${active}`).textContent()) ?? '', /ab\.pysrc/);
  await field(chat).press('Tab');
  assert.equal(await field(chat).inputValue(), '😀 @src/ab.py');

  await field(chat).fill('@a');
  await chat.receive({
    type: 'completions',
    id: (await last(chat, 'complete'))?.id ?? 0,
    items: [{ ...item('a.py'), start: 0, end: 2 }],
  });
  await list.waitFor();
  await field(chat).press('Escape');
  assert.equal(await list.count(), 0);
  assert.equal((await chat.sent('cancel')).length, 0);
  assert.equal(await field(chat).inputValue(), '@a');
});

test('each session has a draft of its own, also one that is called otherwise later', async () => {
  const chat = await chats.open();
  const [first] = await sessions(chat, 's');
  await field(chat).fill('for the first');
  await sessions(chat, 't');
  assert.equal(await field(chat).inputValue(), '');
  await field(chat).fill('for the second');
  await sessions(chat, 's');
  assert.equal(await field(chat).inputValue(), 'for the first');
  await chat.receive({ type: 'superseded', sessionId: 's', by: 'u' });
  await chat.receive({ type: 'superseded', sessionId: 't', by: 'v' });
  await sessions(chat, 'u', ['u', 'v']);
  assert.equal(await field(chat).inputValue(), 'for the first');
  await sessions(chat, 'v', ['u', 'v']);
  assert.equal(await field(chat).inputValue(), 'for the second');
  assert.ok(first);
});

async function sessions(chat: Chat, active: string, ids = ['s', 't']) {
  const all = ids.map((sessionId) => ({ ...SESSION, sessionId }));
  await chat.state({}, { sessions: all, active });
  return all;
}

const SESSION = {
  sessionId: 's',
  agent: 'demo',
  cwd: '/ws',
  title: null,
  status: 'idle' as const,
  stopReason: null,
  stopText: null,
  queue: [],
  usage: null,
  modes: null,
  configOptions: [],
  commands: [],
  follow: null,
  changes: 0,
};

test('a turn can be stopped by a button and by a key, and sending queues meanwhile', async () => {
  const chat = await chats.open();
  await chat.state({ status: 'running' });
  await field(chat).fill('next');
  await chat.page.getByRole('button', { name: 'Queue', exact: true }).click();
  assert.equal((await last(chat, 'prompt'))?.text, 'next');
  await chat.page.getByRole('button', { name: 'Cancel the turn' }).click();
  await field(chat).press('Control+.');
  assert.equal((await chat.sent('cancel')).length, 2);
  await chat.state();
  assert.equal(await chat.page.getByRole('button', { name: 'Cancel the turn' }).count(), 0);
});

test('what is sent while the sidecar starts goes out when it runs', async () => {
  const chat = await chats.open();
  await chat.state({}, { sessions: [], active: null, sidecar: { state: 'starting' } });
  await field(chat).fill('early');
  await field(chat).press('Enter');
  assert.equal((await chat.sent('prompt')).length, 0);
  assert.equal(await field(chat).inputValue(), 'early');
  await chat.state({}, { sessions: [], active: null });
  assert.equal((await last(chat, 'prompt'))?.text, 'early');
  assert.equal((await last(chat, 'prompt'))?.sessionId, null);
});

test('only what the agent offers can be picked, by the keyboard too', async () => {
  const chat = await chats.open();
  assert.equal(await chat.page.getByRole('button', { name: /^Mode/ }).count(), 0);
  await chat.state({ modes: MODES, configOptions: [MODEL, THINK] });
  const model = chat.page.getByRole('button', { name: 'Model: Large' });
  await model.focus();
  await model.press('Enter');
  await chat.page.getByRole('listbox', { name: 'Model' }).press('o');
  await chat.page.keyboard.press('Enter');
  assert.deepEqual(await last(chat, 'setConfigOption'), {
    type: 'setConfigOption',
    sessionId: 's',
    configId: 'model',
    value: 'other',
  });
  await chat.page.getByRole('switch', { name: 'Think' }).click();
  assert.equal((await last(chat, 'setConfigOption'))?.value, true);
  await chat.page.getByRole('button', { name: 'Mode: Ask first' }).click();
  await chat.page.keyboard.press('Escape');
  assert.equal(await chat.page.getByRole('listbox').count(), 0);
  assert.equal((await chat.sent('setMode')).length, 0);
});

test('the arrow up brings back the last prompt into an empty field alone', async () => {
  const chat = await chats.open();
  await chat.blocks([SAID]);
  await field(chat).fill('typed');
  await field(chat).press('ArrowUp');
  assert.equal(await field(chat).inputValue(), 'typed');
  await field(chat).fill('');
  await field(chat).press('ArrowUp');
  assert.equal(await field(chat).inputValue(), 'The first prompt');
  await field(chat).press('ArrowDown');
  assert.equal(await field(chat).inputValue(), '');
});

test('the end of a turn elsewhere and a new question are told to who cannot see them', async () => {
  const chat = await chats.open();
  const other = { ...SESSION, sessionId: 't', title: 'Tests' };
  const told = chat.page.locator('#chat > .unseen');
  await chat.state({}, { sessions: [SESSION, { ...other, status: 'running' }] });
  await chat.state({}, { sessions: [SESSION, other] });
  assert.equal(await told.textContent(), 'demo has finished in “Tests”');
  await chat.state({}, { sessions: [SESSION, { ...other, status: 'running' }] });
  await chat.state({}, { sessions: [SESSION, { ...other, stopText: 'It gave up' }] });
  assert.equal(await told.textContent(), 'demo in “Tests”: It gave up');
  const questions = [question('q', { sessionId: 't', title: 'Run the tests' })];
  await chat.state({}, { sessions: [SESSION, other], questions });
  assert.equal(await told.textContent(), 'demo wants to run: make test (in “Tests”)');
  await chat.page
    .getByRole('button', { name: /demo wants to run: make test \(in “Tests”\)/ })
    .click();
  assert.deepEqual(await last(chat, 'selectSession'), { type: 'selectSession', sessionId: 't' });
});

test('a question of no session is told without the mark that it has in a list', async () => {
  const chat = await chats.open();
  const login = question('l', {
    sessionId: null,
    command: null,
    headline: 'demo needs a login',
    message: 'demo needs a login (login 1)\nAPI key: the key of your account',
  });
  await chat.state({}, { questions: [login] });
  const told = chat.page.locator('.own-message');
  assert.equal(await told.innerText(), 'demo needs a login\nAPI key: the key of your account');
});

test('many options of a session are all to be read', async () => {
  const chat = await chats.open();
  const names = ['Accept edits', 'Default (recommended)', 'Medium effort'];
  const selects = names.map((name, index) => ({
    ...MODEL,
    id: `o${index}`,
    name,
    currentValue: 'v',
    options: [{ value: 'v', name }],
  }));
  const toggles = ['Fast mode', 'Workflows'].map((name) => ({
    id: name,
    name,
    type: 'boolean' as const,
    currentValue: false,
  }));
  await chat.state({ configOptions: [...selects, ...toggles] });
  const texts = chat.page.locator('.picker-text');
  await texts.nth(4).waitFor();
  assert.deepEqual(await texts.allInnerTexts(), [...names, 'Fast mode', 'Workflows']);
  const cut = await texts.evaluateAll((all) =>
    all.filter((it) => it.scrollWidth > it.clientWidth).map((it) => it.textContent),
  );
  assert.deepEqual(cut, []);
});

test('what is asked stays while it is not told anew', async () => {
  const chat = await chats.open();
  const asks = chat.page.getByRole('button', { name: /demo wants to run: make test/ });
  await chat.state({}, { questions: [question('q', { title: 'Run the tests' })] });
  await asks.waitFor();
  await chat.receive({
    type: 'state',
    state: {
      sidecar: { state: 'running' },
      sessions: [{ ...SESSION, title: 'Another title' }],
      active: 's',
      agents: ['demo'],
      followEnabled: true,
    },
  });
  await chat.page.getByRole('tab', { name: /Another title/ }).waitFor();
  assert.ok(await asks.isVisible());
  await chat.state({}, { questions: [] });
  await asks.waitFor({ state: 'hidden' });
});

for (const theme of ['vscode-dark', 'vscode-light', 'vscode-high-contrast'] as const) {
  test(`nothing of the chat is out of reach, too pale or too wide: ${theme}`, async () => {
    for (const width of [250, 900]) {
      const chat = await chats.open(theme, { width, height: 700 });
      await chat.state({
        title: 'A long title of what is to be done here',
        modes: MODES,
        configOptions: [MODEL, THINK],
        usage: { used: 12_000, size: 200_000, cost: { amount: 0.1, currency: 'USD' } },
        changes: 3,
        status: 'running',
        queue: [{ turnId: 't', text: 'And then a second thing that is longer than a line is' }],
      });
      await chat.page.screenshot({ path: path.join(RESULTS, `composer-${theme}-${width}.png`) });
      const wide = await chat.page.evaluate(
        () => document.documentElement.scrollWidth - window.innerWidth,
      );
      assert.equal(wide, 0);
      await chat.page.evaluate(AXE);
      const found = await chat.page.evaluate(async () => {
        const { axe } = window as unknown as {
          axe: { run: () => Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
        };
        const { violations } = await axe.run();
        return violations.map(({ id, nodes }) => `${id}: ${nodes.map((it) => it.html).join(' ')}`);
      });
      assert.deepEqual(found, []);
      await chat.page.close();
    }
  });
}

test('in a view as low and narrow as with a large zoom a question is answered all the same', async () => {
  const chat = await chats.open('vscode-high-contrast', { width: 172, height: 140 });
  const diffs = [
    { path: '/ws/a.py', oldText: 'one\n', newText: 'two\n', whole: true, summary: 'changes a.py' },
  ];
  await chat.state({ status: 'requires_action' }, { questions: [question('q', { diffs })] });
  await chat.blocks([permission('q')]);
  for (const name of ['No', 'Show in the editor', 'Always for make']) {
    const button = chat.page.getByRole('button', { name, exact: true });
    await button.scrollIntoViewIfNeeded();
    const box = await button.boundingBox();
    assert.ok(box && box.x >= 0 && box.x + box.width <= 172, `${name} is cut off`);
    // Nothing lies over it.
    await button.click({ trial: true, timeout: 2000 });
  }
  await field(chat).scrollIntoViewIfNeeded();
  await field(chat).click({ timeout: 2000 });
  await field(chat).pressSequentially('more');
  assert.equal(await field(chat).inputValue(), 'more');
});
