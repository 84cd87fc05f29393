import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import type { EntryBlock } from '../../src/protocol.ts';
import { type Chat, Chats, message, SESSION, toolCall } from './harness.ts';

let chats: Chats;
before(async () => {
  chats = await Chats.start();
});
after(() => chats.close());

function many(count: number): EntryBlock[] {
  return Array.from({ length: count }, (_, index) =>
    index % 3 === 2
      ? toolCall(`b${index}`, `Call ${index}`, {
          content: [{ type: 'content', content: { type: 'text', text: `Result ${index}` } }],
        })
      : message(`b${index}`, `Entry ${index}. ${'Some words. '.repeat((index * 7) % 40)}`),
  );
}

async function rows(chat: Chat): Promise<string[]> {
  return chat.page.locator('article').evaluateAll((all) => {
    const list = document.querySelector('.scroller')?.getBoundingClientRect();
    return all
      .filter((it) => {
        const box = it.getBoundingClientRect();
        return list && box.bottom > list.top && box.top < list.bottom;
      })
      .map((it) => (it as HTMLElement).dataset.key ?? '');
  });
}

/** Where a row is seen, below the top of the list. */
async function topOf(chat: Chat, key: string): Promise<number> {
  return chat.page
    .locator(`article[data-key="${key}"]`)
    .evaluate((it) => Math.round(it.getBoundingClientRect().top));
}

async function scrollTo(chat: Chat, share: number): Promise<void> {
  await chat.page.locator('.scroller').evaluate((it, part) => {
    it.scrollTop = (it.scrollHeight - it.clientHeight) * part;
  }, share);
  await chat.settled();
  await chat.settled();
}

test('ten thousand blocks: few are in the page, and the right ones at each place', async () => {
  const chat = await chats.open();
  await chat.blocks(many(10_000), true);
  assert.equal((await rows(chat)).at(-1), 'b9999');
  for (const share of [0, 0.1, 0.33, 0.5, 0.77, 0.999]) {
    await scrollTo(chat, share);
    const seen = (await rows(chat)).map((it) => Number(it.slice(1)));
    const first = seen[0] ?? Number.NaN;
    assert.ok(seen.length > 1, `something is seen at ${share}`);
    assert.deepEqual(
      seen,
      seen.map((_, index) => first + index),
      `no gap at ${share}`,
    );
    assert.ok(Math.abs(first / 10_000 - share) < 0.1, `${first} is seen at ${share}`);
    const drawn = await chat.page.locator('.feed *').count();
    assert.ok(drawn < 3000, `${drawn} elements`);
    const place = chat.page.locator(`article[data-key="b${first}"]`);
    assert.equal(await place.getAttribute('aria-posinset'), String(first + 1));
    assert.equal(await place.getAttribute('aria-setsize'), '10000');
  }
  chat.assertQuiet();
  await chat.page.close();
});

test('rows lie one below another, also after they have changed', async () => {
  const chat = await chats.open();
  await chat.blocks(many(60), true);
  await scrollTo(chat, 0.4);
  const key = (await rows(chat))[1] ?? '';
  await chat.blocks([message(key, 'Much longer now. '.repeat(80))]);
  await chat.settled();
  const gaps = await chat.page
    .locator('article')
    .evaluateAll((all) =>
      all
        .slice(1)
        .map((it, index) =>
          Math.round(
            it.getBoundingClientRect().top - (all[index]?.getBoundingClientRect().bottom ?? 0),
          ),
        ),
    );
  assert.deepEqual(
    gaps.filter((gap) => Math.abs(gap) > 1),
    [],
  );
  await chat.page.close();
});

test('what the user reads stays where it is while blocks above and below change', async () => {
  const chat = await chats.open();
  await chat.blocks(many(400), true);
  await scrollTo(chat, 0.5);
  const seen = await rows(chat);
  const key = seen[1] ?? '';
  const number = Number(key.slice(1));
  const before = await topOf(chat, key);
  // Drawn already, just above what is seen.
  await chat.blocks([message(`b${number - 2}`, 'Higher. '.repeat(200))]);
  await chat.blocks([message(`b${number - 3}`, 'x')]);
  // Far above, and far below.
  await chat.blocks([
    message('b2', 'Higher. '.repeat(500)),
    message('b390', 'Higher. '.repeat(500)),
  ]);
  await chat.blocks([message('new', 'At the end')]);
  await chat.settled();
  assert.ok(Math.abs((await topOf(chat, key)) - before) <= 1);
  await chat.page.close();
});

test('it stays at the end while the user is there, and lets go when the user scrolls up', async () => {
  const chat = await chats.open();
  await chat.blocks(many(50), true);
  const left = () =>
    chat.page
      .locator('.scroller')
      .evaluate((it) => it.scrollHeight - it.clientHeight - it.scrollTop);
  for (let index = 1; index < 20; index += 1) {
    await chat.blocks([message('last', 'Words that come. '.repeat(index * 10))]);
    assert.ok((await left()) <= 1);
  }
  await chat.page.mouse.move(200, 300);
  await chat.page.mouse.wheel(0, -200);
  await chat.page.waitForFunction(() => !document.querySelector<HTMLElement>('.to-end')?.hidden);
  const seen = (await rows(chat))[0] ?? '';
  const top = await topOf(chat, seen);
  await chat.blocks([message('last', 'Words that come. '.repeat(300)), message('more', 'More')]);
  assert.ok(Math.abs((await topOf(chat, seen)) - top) <= 1);
  const button = chat.page.locator('.to-end');
  assert.equal(await button.innerText(), 'New');
  await button.click();
  await chat.settled();
  assert.ok((await left()) <= 1);
  assert.ok(await button.isHidden());
  await chat.blocks([message('again', 'Once more. '.repeat(100))]);
  assert.ok((await left()) <= 1);
  await chat.page.close();
});

test('a fold stays open while its block is out of the page', async () => {
  const chat = await chats.open();
  await chat.blocks(many(2000), true);
  await scrollTo(chat, 0.3);
  const summary = chat.page.locator('article[data-kind="toolCall"] .disclosure').nth(2);
  const key = await summary.evaluate((it) => it.closest('article')?.dataset.key ?? '');
  await summary.click();
  const result = chat.page.getByText(`Result ${key.slice(1)}`, { exact: true });
  await result.waitFor();
  await scrollTo(chat, 1);
  // The focus keeps the row in the page: it goes elsewhere.
  await chat.page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  await scrollTo(chat, 0.9);
  assert.equal(await chat.page.locator(`article[data-key="${key}"]`).count(), 0);
  await scrollTo(chat, 0.3);
  await result.waitFor();
  await chat.page.close();
});

test('each session is found where it was left', async () => {
  const chat = await chats.open();
  await chat.blocks(many(300), true);
  await scrollTo(chat, 0.4);
  const seen = (await rows(chat))[1] ?? '';
  const top = await topOf(chat, seen);
  const both = [SESSION, { ...SESSION, sessionId: 'other' }];
  await chat.state({}, { sessions: both, active: 'other' });
  await chat.settled();
  assert.equal(await chat.page.locator('article').count(), 0);
  await chat.state({}, { sessions: both });
  await chat.settled();
  assert.ok(Math.abs((await topOf(chat, seen)) - top) <= 1);
  // One that is closed is forgotten.
  await chat.state({}, { sessions: both.slice(1), active: 'other' });
  await chat.state({}, { sessions: both });
  await chat.settled();
  assert.equal(await chat.page.locator('article').count(), 0);
  await chat.page.close();
});

test('a narrower page keeps the place', async () => {
  const chat = await chats.open();
  await chat.blocks(many(500), true);
  await scrollTo(chat, 0.5);
  const seen = (await rows(chat))[0] ?? '';
  const top = await topOf(chat, seen);
  await chat.page.setViewportSize({ width: 280, height: 700 });
  await chat.settled();
  await chat.settled();
  assert.ok(Math.abs((await topOf(chat, seen)) - top) <= 30);
  await chat.page.close();
});

test('a text is found in all of the conversation, also where it is not in the page', async () => {
  const chat = await chats.open();
  const blocks = many(3000);
  blocks[40] = message('b40', 'Here is the needle');
  blocks[1700] = toolCall('b1700', 'Look', {
    content: [{ type: 'content', content: { type: 'text', text: 'A NEEDLE, folded' } }],
  });
  await chat.blocks(blocks, true);
  await chat.page.locator('.scroller').click();
  await chat.page.keyboard.press('Control+f');
  await chat.page.getByLabel('Find in the conversation').fill('needle');
  await chat.page.getByText('1 of 2').waitFor();
  await chat.page.getByText('Here is the needle').waitFor();
  await chat.page.keyboard.press('Enter');
  await chat.page.getByText('2 of 2').waitFor();
  await chat.page.getByText('A NEEDLE, folded').waitFor();
  const marked = await chat.page.evaluate(() =>
    [...(CSS.highlights.get('found') ?? [])].map(String),
  );
  assert.deepEqual(marked, ['NEEDLE']);
  await chat.page.getByLabel('Find in the conversation').fill('nothing like it');
  await chat.page.getByText('No results').waitFor();
  await chat.page.keyboard.press('Escape');
  assert.ok(await chat.page.getByLabel('Find in the conversation').isHidden());
  chat.assertQuiet();
  await chat.page.close();
});
