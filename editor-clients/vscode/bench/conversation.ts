/**
 * What a long conversation costs in the chat, beside a short one in the same run: work of the page
 * (scripts, layout, drawing) by Chromium's own count, so that waiting for frames is not in it.
 *
 * `npm run bench`; CHROMIUM names another browser.
 */

import { stdout } from 'node:process';

import type { EntryBlock } from '../src/protocol.ts';
import { type Chat, Chats, message, toolCall } from '../test/webview/harness.ts';

const SHORT = 100;
const LONG = 10_000;
const STEPS = 60;
const ROUNDS = 5;
const WORDS = 'Some words that say nothing, and `code`. ';

interface Costs {
  /** Milliseconds of work until all is there and the end of it is drawn. */
  open: number;
  /** For a step of the wheel. */
  step: number;
  /** For a jump to anywhere. */
  jump: number;
  /** For some more words at the end of the last message, which has 50 KB. */
  words: number;
}

function conversation(count: number): EntryBlock[] {
  return Array.from({ length: count }, (_, index) =>
    index % 3 === 2
      ? toolCall(`b${index}`, `Call ${index}`, {
          content: [{ type: 'content', content: { type: 'text', text: `Result ${index}` } }],
        })
      : message(`b${index}`, `Entry ${index}. ${WORDS.repeat((index * 7) % 40)}`),
  );
}

async function measured(chats: Chats, count: number): Promise<Costs> {
  const chat = await chats.open();
  const session = await chat.page.context().newCDPSession(chat.page);
  await session.send('Performance.enable');
  const work = async (what: () => Promise<void>) => {
    const before = await taskSeconds();
    await what();
    return ((await taskSeconds()) - before) * 1000;
  };
  const taskSeconds = async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN;
  };
  const open = await work(() => chat.blocks(conversation(count), true));
  const step = await work(() => scroll(chat, (place) => place - 0.1 / count));
  const jump = await work(() => scroll(chat, (_, index) => ((index * 37) % 100) / 100));
  const text = WORDS.repeat(1250);
  await chat.blocks([message('last', text)]);
  const words = await work(async () => {
    for (let more = 1; more <= STEPS; more += 1) {
      await chat.blocks([message('last', text + WORDS.repeat(more))]);
    }
  });
  await chat.page.close();
  return { open, step: step / STEPS, jump: jump / STEPS, words: words / STEPS };
}

/** Scrolls to one place after the other; a place is a share of all there is. */
async function scroll(chat: Chat, next: (place: number, index: number) => number): Promise<void> {
  let place = 1;
  for (let index = 0; index < STEPS; index += 1) {
    place = next(place, index);
    await chat.page.locator('.scroller').evaluate((it, share) => {
      it.scrollTop = (it.scrollHeight - it.clientHeight) * share;
    }, place);
    await chat.settled();
  }
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

const chats = await Chats.start();
const rounds: [Costs, Costs][] = [];
for (let round = 0; round < ROUNDS; round += 1) {
  rounds.push([await measured(chats, SHORT), await measured(chats, LONG)]);
}
await chats.close();
stdout.write(`              ${SHORT} blocks  ${LONG} blocks  ratio\n`);
for (const what of ['open', 'step', 'jump', 'words'] as const) {
  const short = median(rounds.map(([costs]) => costs[what]));
  const long = median(rounds.map(([, costs]) => costs[what]));
  const columns = [
    `${short.toFixed(1)} ms`,
    `${long.toFixed(1)} ms`,
    `× ${(long / short).toFixed(1)}`,
  ];
  stdout.write(`${what.padEnd(12)}${columns.map((it) => it.padStart(12)).join('')}\n`);
}
