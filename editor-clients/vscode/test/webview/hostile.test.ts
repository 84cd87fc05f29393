import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import type { EntryBlock, FormField } from '../../src/protocol.ts';
import { type Chat, Chats, form, message, permission, question, SESSION } from './harness.ts';

let chats: Chats;
before(async () => {
  chats = await Chats.start('whole');
});
after(() => chats.close());

/** As long as a button must have been where it is, and a bit more. */
const GUARD_MS = 600;
const BIDI = /[\u202a-\u202e\u2066-\u2069\u200b]/u;

const prompt = ({ page }: Chat) => page.getByRole('textbox', { name: 'Prompt' });

async function middle(chat: Chat, name: string): Promise<[number, number]> {
  const box = await chat.page.getByRole('button', { name, exact: true }).first().boundingBox();
  assert.ok(box);
  return [box.x + box.width / 2, box.y + box.height / 2];
}

test('a question of no session that comes under the pointer, or moves there, is not answered', async () => {
  const chat = await chats.open();
  await chat.stopTime();
  const own = question('own', { sessionId: 'unknown', message: 'Log in to demo?' });
  await chat.state({}, { questions: [own] });
  const { mouse } = chat.page;
  const note = chat.page.getByText('look again, then press');
  await mouse.click(...(await middle(chat, 'Yes')));
  await note.waitFor();
  await chat.later(GUARD_MS);
  // What is typed moves it up.
  await prompt(chat).fill('line\n'.repeat(8));
  await chat.settled();
  await mouse.click(...(await middle(chat, 'Yes')));
  assert.deepEqual(await chat.sent('answer'), []);
  await chat.later(GUARD_MS);
  await mouse.click(...(await middle(chat, 'Yes')));
  assert.deepEqual(await chat.sent('answer'), [
    { type: 'answer', requestId: 'own', optionId: 'yes' },
  ]);
  chat.assertQuiet();
  await chat.page.close();
});

test('a question of no session without a no can be left without an answer', async () => {
  const chat = await chats.open();
  const options = [{ optionId: 'go', name: 'Go', kind: 'allow_once', title: 'Go' }];
  const own = question('own', { sessionId: 'unknown', options, refusable: true });
  await chat.state({}, { questions: [own] });
  await chat.page.waitForTimeout(GUARD_MS);
  await chat.page.getByRole('button', { name: 'Give no answer' }).click();
  assert.deepEqual(await chat.sent('answer'), [
    { type: 'answer', requestId: 'own', optionId: null },
  ]);
  await chat.page.close();
});

test('a form whose texts are none is drawn, and what cannot be drawn takes nothing with it', async () => {
  const chat = await chats.open();
  const odd = { type: 'string', title: 5, description: ['x'], default: {} } as unknown as FormField;
  const named = { type: 'string', enum: ['a'], enumNames: [7] } as unknown as FormField;
  const properties = { odd, named };
  const elicitation = form('f', {
    requestedSchema: { required: [], properties },
    fields: ['odd', 'named'],
  });
  const broken = { id: 'b', kind: 'plan', planId: 'b', entries: 'none' } as unknown as EntryBlock;
  await chat.state({}, { elicitations: [elicitation] });
  await chat.blocks([message('m', 'Before it'), broken, message('n', 'Behind it')]);
  assert.equal(await chat.page.getByLabel('odd').inputValue(), '');
  assert.deepEqual(await chat.page.getByLabel('named').locator('option').allInnerTexts(), [
    '…',
    'a',
  ]);
  const text = await chat.page.locator('.feed').innerText();
  assert.match(text, /Before it[^]*cannot be shown[^]*Behind it/u);
  await chat.blocks([{ id: 'b', kind: 'plan', planId: 'b', entries: [] }, message('m', 'Changed')]);
  assert.match(await chat.page.locator('.feed').innerText(), /Changed/u);
  chat.assertQuiet();
  await chat.page.close();
});

test('nothing that an agent calls by a name hides how it is written', async () => {
  const chat = await chats.open();
  const evil = 'safe\u202egnp.exe\u200b';
  const choice = { value: 'x', name: evil, description: evil };
  await chat.state(
    {
      title: evil,
      configOptions: [
        { id: 'o', name: evil, type: 'select', currentValue: 'x', options: [choice] },
        { id: 'o', name: evil, type: 'boolean', currentValue: true },
      ],
      modes: { currentModeId: 'm', availableModes: [{ id: 'm', name: evil }] },
    },
    { questions: [question('q', { title: evil })] },
  );
  const entries = [{ content: evil, priority: 'high', status: 'pending' } as const];
  await chat.blocks([permission('q'), { id: 'p', kind: 'plan', planId: 'p', entries }]);
  await chat.page.locator('.picker[aria-haspopup]').last().click();
  await chat.page.locator('.menu').waitFor();
  const shown = await chat.page.evaluate(() => {
    const titles = [...document.querySelectorAll('[title], [aria-label]')].map(
      (it) => `${it.getAttribute('title') ?? ''} ${it.getAttribute('aria-label') ?? ''}`,
    );
    return [document.body.innerText, ...titles].join('\n');
  });
  assert.ok(shown.includes('safe\\u202egnp.exe\\u200b'));
  assert.doesNotMatch(shown, BIDI);
  chat.assertQuiet();
  await chat.page.close();
});

test('forty long answers fit into a narrow chat, and leave the prompt where it is', async () => {
  const chat = await chats.open('vscode-dark', { width: 250, height: 700 });
  const options = Array.from({ length: 40 }, (_, n) => ({
    optionId: `o${n}`,
    name: 'x',
    kind: null,
    title: `${n} ${'x'.repeat(5000)}`,
  }));
  await chat.state(
    {},
    {
      questions: [
        question('q', { options }),
        question('own', { sessionId: 'unknown', options, message: 'm'.repeat(60_000) }),
      ],
    },
  );
  await chat.blocks([permission('q')]);
  const wide = await chat.page.evaluate(() =>
    [...document.querySelectorAll('button')]
      .map((it) => it.getBoundingClientRect().right)
      .filter((right) => right > window.innerWidth),
  );
  assert.deepEqual(wide, []);
  const box = await prompt(chat).boundingBox();
  assert.ok(box && box.y + box.height <= 700);
  assert.equal(await chat.page.locator('.question .answer').count(), 40);
  chat.assertQuiet();
  await chat.page.close();
});

test('keys that are held while a question comes answer nothing', async () => {
  const chat = await chats.open();
  const { keyboard } = chat.page;
  await prompt(chat).fill('go');
  await keyboard.down('Enter');
  await chat.state({ status: 'requires_action' }, { questions: [question('q')] });
  await chat.blocks([permission('q')]);
  await chat.receive({ type: 'showQuestion', requestId: 'q' });
  for (let n = 0; n < 30; n += 1) {
    await keyboard.down('Enter');
    await keyboard.down('Space');
  }
  await chat.page.waitForTimeout(GUARD_MS);
  for (let n = 0; n < 10; n += 1) {
    await keyboard.press('Tab');
    await keyboard.down('Enter');
    await keyboard.down('Space');
  }
  await keyboard.up('Enter');
  await keyboard.up('Space');
  assert.deepEqual(await chat.sent('answer'), []);
  assert.equal((await chat.sent('prompt')).length, 1);
  await chat.page.close();
});

test('by Tab alone one comes from the prompt to a waiting question, and back', async () => {
  const chat = await chats.open();
  await chat.state({ status: 'requires_action' }, { questions: [question('q')] });
  await chat.blocks([message('m', 'Before it'), permission('q')]);
  await prompt(chat).focus();
  const at = () =>
    chat.page.evaluate(() => (document.activeElement as HTMLElement | null)?.dataset.key ?? '');
  for (let n = 0; n < 12 && (await at()) !== 'q'; n += 1) {
    await chat.page.keyboard.press('Shift+Tab');
  }
  for (let n = 0; n < 4 && (await at()) !== 'option:no'; n += 1) {
    await chat.page.keyboard.press('Tab');
  }
  assert.equal(await at(), 'option:no');
  const inPrompt = () => prompt(chat).evaluate((it) => it === document.activeElement);
  for (let n = 0; n < 12 && !(await inPrompt()); n += 1) {
    await chat.page.keyboard.press('Tab');
  }
  assert.ok(await inPrompt());
  await chat.page.close();
});

test('a double click answers one question, not the one that comes after it', async () => {
  const chat = await chats.open();
  await chat.stopTime();
  const both = [question('q'), question('r')];
  await chat.state({ status: 'requires_action' }, { questions: both });
  await chat.blocks([permission('q')]);
  await chat.later(GUARD_MS);
  const at = await middle(chat, 'Yes');
  await chat.page.mouse.click(...at);
  // The next one comes to where the first was.
  await chat.state({ status: 'requires_action' }, { questions: both.slice(1) });
  await chat.blocks([
    permission('q', { state: 'answered', optionId: 'yes', rejected: false }),
    permission('r'),
  ]);
  await chat.page.mouse.click(...(await middle(chat, 'Yes')));
  const sent = await chat.sent('answer');
  assert.deepEqual(sent, [{ type: 'answer', requestId: 'q', optionId: 'yes' }]);
  await chat.page.close();
});

test('a plan of a thousand entries and a megabyte of input are drawn in a moment', async () => {
  const chat = await chats.open();
  const entries = Array.from({ length: 1000 }, (_, n) => ({
    content: `Step ${n} ${'word '.repeat(20)}`,
    priority: null,
    status: 'pending',
  }));
  const asked = question('q', { rawInput: { big: 'x'.repeat(1_000_000) } });
  await chat.state({}, { sessions: [SESSION], questions: [asked] });
  const started = performance.now();
  await chat.blocks([{ id: 'p', kind: 'plan', planId: 'p', entries }, permission('q')]);
  await chat.page.getByText('Input').click();
  await chat.settled();
  assert.ok(performance.now() - started < 10_000);
  assert.ok(await chat.page.getByRole('button', { name: 'Yes' }).isVisible());
  chat.assertQuiet();
  await chat.page.close();
});
