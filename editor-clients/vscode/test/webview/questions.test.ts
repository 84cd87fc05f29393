import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { type Chat, Chats, fact, form, message, permission, question } from './harness.ts';

let chats: Chats;
before(async () => {
  chats = await Chats.start();
});
after(() => chats.close());

/** As long as a button must have been where it is, and a bit more. */
const GUARD_MS = 600;
/** What is told of a path beside it. */
const OUTSIDE = ' (outside the workspace)';

async function ask(chat: Chat): Promise<void> {
  await chat.state({ status: 'requires_action' }, { questions: [question('q')] });
  await chat.blocks([message('m', 'Before it'), permission('q')]);
}

test('a question says everything, and its buttons have the order it came with', async () => {
  const chat = await chats.open();
  const diffs = [
    {
      path: '/ws/a.py',
      oldText: 'one\n',
      newText: 'two\n',
      whole: true,
      summary: 'changes /ws/a.py (−1 +1 lines)',
    },
  ];
  const asked = question('q', {
    headline: 'demo wants to change files',
    facts: [fact('It says: \u202eevil')],
    command: 'rm -rf \u202ebuild',
    cwd: '/elsewhere',
    paths: ['/ws/a.py', '/etc/hosts'],
    rawInput: { force: true },
    diffs,
  });
  await chat.state({}, { questions: [asked] });
  await chat.blocks([permission('q', { headline: asked.headline })]);
  const card = chat.page.locator('.question');
  const text = await card.innerText();
  for (const part of [
    'demo wants to change files',
    'It changes a.py (−1 +1 lines)',
    '\\u202eevil',
    'rm -rf \\u202ebuild',
  ]) {
    assert.ok(text.includes(part), part);
  }
  for (const part of ['in /elsewhere', '/etc/hosts', 'one', 'two']) {
    assert.ok(text.includes(part), part);
  }
  assert.deepEqual(await card.locator('.answer').allInnerTexts(), ['No', 'Yes', 'Always for make']);
  assert.equal(await card.locator(':focus').count(), 0);
  await card.getByText('Input').click();
  assert.ok((await card.innerText()).includes('"force": true'));
  await chat.page.getByRole('button', { name: 'Show in the editor' }).click();
  assert.deepEqual(await chat.sent('previewQuestion'), [
    { type: 'previewQuestion', requestId: 'q' },
  ]);
  chat.assertQuiet();
  await chat.page.close();
});

test('each thing is said once: what is drawn is not in the words as well', async () => {
  const chat = await chats.open();
  const facts = [
    fact('Folder: /ws', 'folder', '/ws'),
    fact('Path: /ws', 'path', '/ws'),
    fact('Path: /ws/src/a.py', 'path', '/ws/src/a.py'),
    fact(`Path: /out/new.txt${OUTSIDE}`, 'path', '/out/new.txt', OUTSIDE),
    fact('Arguments: {"retries":3}', 'arguments', { retries: 3 }),
    fact('The agent calls it: “Run the tests”'),
  ];
  const places = [
    { path: '/ws', line: null },
    { path: '/ws/src/a.py', line: 4 },
    { path: '/out/new.txt', line: null },
  ];
  const asked = question('q', {
    facts,
    command: 'make test',
    cwd: '/ws',
    locations: places,
    paths: places.map((it) => it.path),
    rawInput: { command: 'make test', retries: 3 },
  });
  await chat.state({}, { questions: [asked] });
  await chat.blocks([permission('q')]);
  const card = chat.page.locator('.question');
  const lines = (await card.innerText()).split('\n').map((it) => it.trim());
  assert.deepEqual(lines.filter(Boolean).slice(0, 11), [
    'demo wants to run a command',
    '$',
    'make test',
    'Path: src/a.py:4',
    'Path: /out/new.txt (outside the workspace)',
    'The agent calls it: “Run the tests”',
    'Arguments',
    '{',
    '"retries": 3',
    '}',
    'Input',
  ]);
  await card.getByRole('link', { name: '/out/new.txt' }).click();
  assert.deepEqual(await chat.sent('openPath'), [
    { type: 'openPath', sessionId: 's', path: '/out/new.txt', line: null },
  ]);
  await chat.page.close();
});

test('a command that would run elsewhere says where', async () => {
  const chat = await chats.open();
  const outside = `Folder: /out${OUTSIDE}`;
  const asked = question('q', {
    facts: [fact(outside, 'folder', '/out', OUTSIDE)],
    command: 'make',
    cwd: '/out',
  });
  await chat.state({}, { questions: [asked] });
  await chat.blocks([permission('q')]);
  assert.ok(await chat.page.getByText(outside).isVisible());
  await chat.page.close();
});

test('no answer is offered where none of the options is a no', async () => {
  const chat = await chats.open();
  const options = [{ optionId: 'go', name: 'Go', kind: 'allow_once', title: 'Go' }];
  await chat.state({}, { questions: [question('q', { options, refusable: true })] });
  await chat.blocks([permission('q')]);
  await chat.page.waitForTimeout(GUARD_MS);
  await chat.page.getByRole('button', { name: 'Give no answer' }).click();
  assert.deepEqual(await chat.sent('answer'), [{ type: 'answer', requestId: 'q', optionId: null }]);
  await chat.page.close();
});

test('a button that has just come under the pointer does not answer; a moment later it does', async () => {
  const chat = await chats.open();
  await ask(chat);
  const yes = chat.page.getByRole('button', { name: 'Yes' });
  const box = await yes.boundingBox();
  assert.ok(box);
  await chat.page.reload();
  await chat.state();
  await chat.stopTime();
  await chat.page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await ask(chat);
  await chat.page.mouse.down();
  await chat.page.mouse.up();
  await chat.page.locator('.guard-note').getByText('look again').waitFor();
  assert.deepEqual(await chat.sent('answer'), []);
  await chat.later(GUARD_MS);
  await chat.page.mouse.down();
  await chat.page.mouse.up();
  assert.deepEqual(await chat.sent('answer'), [
    { type: 'answer', requestId: 'q', optionId: 'yes' },
  ]);
  assert.ok(await yes.isDisabled());
  await chat.page.close();
});

test('a button that what is above it has moved does not answer at once', async () => {
  const chat = await chats.open();
  await chat.stopTime();
  await chat.state({}, { questions: [question('q')] });
  await chat.blocks([message('m', 'Short'), permission('q')]);
  await chat.later(GUARD_MS);
  await chat.blocks([message('m', 'Longer now.\n\n'.repeat(4))]);
  const box = await chat.page.getByRole('button', { name: 'Yes' }).boundingBox();
  assert.ok(box);
  await chat.page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  assert.deepEqual(await chat.sent('answer'), []);
  await chat.page.close();
});

test('no key answers but one on a button that the user has gone to', async () => {
  const chat = await chats.open();
  await chat.stopTime();
  await ask(chat);
  await chat.later(GUARD_MS);
  await chat.receive({ type: 'showQuestion', requestId: 'q' });
  const focused = () =>
    chat.page.evaluate(() => [
      document.activeElement?.tagName,
      (document.activeElement as HTMLElement | null)?.dataset.key,
    ]);
  assert.deepEqual(await focused(), ['ARTICLE', 'q']);
  for (const key of ['Enter', 'Space', 'y', 'Enter']) {
    await chat.page.keyboard.press(key);
  }
  assert.deepEqual(await chat.sent('answer'), []);
  while ((await focused())[1] !== 'option:yes') {
    await chat.page.keyboard.press('Tab');
  }
  // It has only just got there.
  await chat.page.keyboard.press('Enter');
  assert.deepEqual(await chat.sent('answer'), []);
  await chat.later(GUARD_MS);
  await chat.page.keyboard.press('Enter');
  assert.deepEqual(await chat.sent('answer'), [
    { type: 'answer', requestId: 'q', optionId: 'yes' },
  ]);
  await chat.page.close();
});

test('a question that is over says how it was answered, and has no buttons', async () => {
  const chat = await chats.open();
  await ask(chat);
  await chat.state();
  await chat.blocks([
    permission('q', { state: 'answered', optionId: 'always', rejected: false }),
    permission('r', { state: 'cancelled' }),
  ]);
  const over = chat.page.locator('.question-over .badge');
  assert.deepEqual(await over.allInnerTexts(), ['Always for make', 'cancelled']);
  assert.equal(await chat.page.locator('.answer').count(), 0);
  await chat.page.close();
});

test('a question that no block stands for is asked at the end; one of another session is not', async () => {
  const chat = await chats.open();
  await chat.state(
    {},
    {
      questions: [
        question('own', { headline: 'Save the files first?' }),
        question('other', { sessionId: 'other', headline: 'Of another session' }),
      ],
    },
  );
  await chat.blocks([message('m', 'Words')]);
  const rows = await chat.page.locator('article').allInnerTexts();
  assert.equal(rows.length, 2);
  assert.ok(rows[1]?.includes('Save the files first?'));
  await chat.state();
  await chat.settled();
  assert.equal(await chat.page.locator('article').count(), 1);
  await chat.page.close();
});

test('a form is filled in by its fields, and what is wrong stands beside the field', async () => {
  const chat = await chats.open('vscode-dark', { width: 420, height: 900 });
  await chat.state({}, { elicitations: [form('f')] });
  await chat.settled();
  const { page } = chat;
  await page.getByLabel('Branch').selectOption('next');
  await page.getByLabel('Name').fill('x');
  await page.getByLabel('Copies').fill('many');
  await page.getByLabel('Tell the others').check();
  await page.getByLabel('code').check();
  const token = page.getByLabel('Token');
  await token.fill('secret');
  assert.equal(await token.getAttribute('type'), 'password');
  await page.waitForTimeout(GUARD_MS);
  await page.getByRole('button', { name: 'Send' }).click();
  const content = {
    branch: 'next',
    name: 'x',
    count: 'many',
    sure: true,
    parts: ['code'],
    token: 'secret',
  };
  assert.deepEqual(await chat.sent('answerForm'), [
    { type: 'answerForm', requestId: 'f', answer: { action: 'accept', content } },
  ]);
  const problems = [{ field: 'count', message: 'Copies must be a whole number' }];
  await chat.state({}, { elicitations: [form('f', { content, problems })] });
  await chat.settled();
  const copies = page.getByLabel('Copies');
  assert.equal(await copies.getAttribute('aria-invalid'), 'true');
  assert.equal(await copies.inputValue(), 'many');
  assert.ok(await page.getByText('Copies must be a whole number').isVisible());
  await copies.fill('3');
  await page.waitForTimeout(GUARD_MS);
  await page.getByRole('button', { name: 'Send' }).click();
  const last = (await chat.sent('answerForm')).at(-1);
  assert.equal(last?.answer.content?.count, 3);
  chat.assertQuiet();
  await page.close();
});

test('what was typed in a form outlives other news, and a page is named whole', async () => {
  const chat = await chats.open('vscode-dark', { width: 420, height: 900 });
  await chat.state({}, { elicitations: [form('f')] });
  await chat.settled();
  await chat.page.getByLabel('Name').fill('typed');
  const url = `http://example.org/login?next=${'x'.repeat(200)}`;
  const page = form('u', {
    mode: 'url',
    url,
    host: 'example.org',
    headline: 'demo wants to open a page in your browser',
    facts: [
      fact('Host: example.org', 'host', 'example.org'),
      fact(`Address: ${url}`, 'address', url),
      fact('It is not encrypted (http)', 'warning'),
      fact('It says: How shall it be released?', 'message', 'How shall it be released?'),
    ],
    fields: [],
    requestedSchema: null,
  });
  await chat.state({ title: 'New' }, { elicitations: [form('f'), page] });
  await chat.settled();
  assert.equal(await chat.page.getByLabel('Name').inputValue(), 'typed');
  assert.ok(await chat.page.getByText(url).isVisible());
  assert.ok(await chat.page.getByText('example.org', { exact: true }).isVisible());
  assert.ok(await chat.page.getByText(page.headline).isVisible());
  assert.ok(await chat.page.getByText('It is not encrypted (http)').isVisible());
  assert.equal(await chat.page.getByText('It says:').count(), 0);
  await chat.page.waitForTimeout(GUARD_MS);
  await chat.page.getByRole('button', { name: 'Open the page' }).click();
  assert.deepEqual(await chat.sent('answerForm'), [
    { type: 'answerForm', requestId: 'u', answer: { action: 'accept' } },
  ]);
  await chat.page.close();
});
