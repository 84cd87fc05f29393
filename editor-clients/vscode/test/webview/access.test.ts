import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import type { AxeResults } from 'axe-core';

import { type Chat, Chats, message, toolCall } from './harness.ts';
import { ASKED, FORM, SCENE } from './scene.ts';
import { type Theme, THEMES } from './themes.ts';

let chats: Chats;
before(async () => {
  chats = await Chats.start();
});
after(() => chats.close());

async function violations(chat: Chat): Promise<string[]> {
  await chat.page.evaluate((source) => {
    const script = document.createElement('script');
    script.nonce = 'n';
    script.src = source;
    document.head.append(script);
    return new Promise((resolve) => script.addEventListener('load', resolve));
  }, '/axe.js');
  const results = await chat.page.evaluate(() =>
    // A view of an editor is no page: it has no heading of its own.
    (window as unknown as { axe: { run: (options: object) => Promise<AxeResults> } }).axe.run({
      rules: { 'page-has-heading-one': { enabled: false } },
    }),
  );
  return results.violations.flatMap((it) =>
    it.nodes.map((node) => `${it.id}: ${node.html} ${node.failureSummary ?? ''}`),
  );
}

for (const theme of Object.keys(THEMES) as Theme[]) {
  test(`nothing hinders the use of a screen reader or of weak eyes: ${theme}`, async () => {
    const chat = await chats.open(theme, { width: 420, height: 2600 });
    await chat.state({ status: 'requires_action' }, { ...ASKED, ...FORM });
    await chat.blocks(SCENE, true);
    for (let depth = 0; depth < 2; depth += 1) {
      await chat.page.evaluate(() => {
        for (const it of document.querySelectorAll<HTMLElement>(
          'details:not([open]) > summary, .disclosure[aria-expanded="false"]',
        )) {
          it.click();
        }
      });
      await chat.settled();
    }
    await chat.page.keyboard.press('Control+f');
    assert.deepEqual(await violations(chat), []);
    chat.assertQuiet();
    await chat.page.close();
  });
}

test('the whole conversation can be walked, opened and left by keys alone', async () => {
  const chat = await chats.open();
  const blocks = Array.from({ length: 300 }, (_, index) =>
    index % 2 === 0
      ? message(`b${index}`, `Entry ${index}, see \`src/a.py:${index + 1}\``)
      : toolCall(`b${index}`, `Call ${index}`, { rawInput: { index } }),
  );
  await chat.blocks(blocks, true);
  const { keyboard } = chat.page;
  const focus = () =>
    chat.page.evaluate(() => {
      const at = document.activeElement as HTMLElement | null;
      const list = document.querySelector('.scroller')?.getBoundingClientRect();
      const box = at?.getBoundingClientRect();
      const seen = !!box && !!list && box.bottom > list.top && box.top < list.bottom;
      return `${at?.dataset.key ?? at?.tagName ?? ''}${seen ? '' : ' out of sight'}`;
    });
  const pressed = async (key: string) => {
    await keyboard.press(key);
    await chat.settled();
    return focus();
  };
  assert.equal(await pressed('Tab'), 'b299');
  assert.equal(await pressed('ArrowUp'), 'b298');
  assert.equal(await pressed('Home'), 'b0');
  assert.equal(await pressed('ArrowDown'), 'b1');
  const page = await pressed('PageDown');
  assert.ok(/^b\d+$/u.test(page) && Number(page.slice(1)) > 5, page);
  assert.equal(await pressed('PageUp'), 'b1');
  assert.equal(await pressed('End'), 'b299');
  assert.equal(await pressed('ArrowUp'), 'b298');
  // Into the row, and out of it.
  assert.equal(await pressed('Tab'), 'A');
  await keyboard.press('Enter');
  assert.deepEqual(await chat.sent('openPath'), [
    { type: 'openPath', sessionId: 's', path: 'src/a.py', line: 299 },
  ]);
  assert.equal(await pressed('Escape'), 'b298');
  assert.equal(await pressed('ArrowDown'), 'b299');
  assert.equal(await pressed('Tab'), 'tool');
  await keyboard.press('Enter');
  assert.ok(await chat.page.locator('article[data-key="b299"] .raw').isVisible());
  const name = await chat.page.locator('article[data-key="b299"]').getAttribute('aria-label');
  assert.equal(name, 'Call 299: done');
  chat.assertQuiet();
  await chat.page.close();
});

test('the end of a turn, and what came of it, is told', async () => {
  const chat = await chats.open();
  await chat.state({ status: 'running' });
  await chat.blocks([message('u', 'Do it', 'user'), message('a', 'All is **done**.\n\nMore.')]);
  assert.ok(await chat.page.locator('.working').isVisible());
  await chat.state({ status: 'idle', stopReason: 'end_turn' });
  await chat.settled();
  const said = chat.page.locator('[aria-live="polite"]');
  assert.equal(await said.innerText(), 'demo: All is **done**.');
  assert.equal(await chat.page.locator('.working').count(), 0);
  await chat.state({ status: 'running', stopReason: null });
  await chat.blocks([message('v', 'Again', 'user', { turn: 2 })]);
  await chat.state({ status: 'idle', stopReason: 'max_tokens', stopText: 'It spoke too much' });
  await chat.settled();
  await chat.blocks([message('w', 'And again', 'user', { turn: 3 })]);
  const rows = await chat.page.locator('article').allInnerTexts();
  assert.deepEqual(rows.slice(-3), ['Again', 'It spoke too much', 'And again']);
  await chat.page.close();
});
