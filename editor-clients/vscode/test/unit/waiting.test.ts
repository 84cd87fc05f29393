import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Waiting } from '../../src/questions/waiting.ts';

interface Asked {
  requestId: string;
}

class Token {
  readonly listeners = new Set<() => void>();
  isCancellationRequested = false;

  onCancellationRequested(listener: () => void): { dispose(): void } {
    this.listeners.add(listener);
    return { dispose: () => void this.listeners.delete(listener) };
  }

  cancel(): void {
    this.isCancellationRequested = true;
    for (const listener of this.listeners) {
      listener();
    }
  }
}

function ids(waiting: Waiting<Asked, string>): string[] {
  return waiting.all().map(({ requestId }) => requestId);
}

test('each is answered once, whichever comes first, and the others go on waiting', async () => {
  let changes = 0;
  const waiting = new Waiting<Asked, string>(() => (changes += 1));
  const first = waiting.wait({ requestId: 'a' }, new Token());
  void waiting.wait({ requestId: 'b' }, new Token());
  const third = waiting.wait({ requestId: 'c' }, new Token());
  assert.deepEqual(ids(waiting), ['a', 'b', 'c']);
  assert.equal(waiting.settle('c', 'yes'), true);
  assert.equal(waiting.settle('a', 'no'), true);
  assert.equal(waiting.settle('a', 'yes'), false);
  assert.deepEqual([await first, await third], ['no', 'yes']);
  assert.deepEqual(ids(waiting), ['b']);
  assert.equal(changes, 5);
});

test('one that is cancelled closes without an answer, and takes none afterwards', async () => {
  const waiting = new Waiting<Asked, string>(() => undefined);
  const token = new Token();
  const answer = waiting.wait({ requestId: 'a' }, token);
  token.cancel();
  assert.equal(waiting.settle('a', 'yes'), false);
  assert.equal(await answer, null);
  assert.deepEqual(ids(waiting), []);
  assert.equal(token.listeners.size, 0);
});

test('one that was cancelled before it was heard of does not show', async () => {
  const waiting = new Waiting<Asked, string>(() => assert.fail('nothing waits'));
  const token = new Token();
  token.cancel();
  assert.equal(await waiting.wait({ requestId: 'a' }, token), null);
});

test('a late cancel of one that came again does not close the new one', async () => {
  const waiting = new Waiting<Asked, string>(() => undefined);
  const token = new Token();
  const before = waiting.wait({ requestId: 'form' }, token);
  waiting.settle('form', 'does not fit');
  const again = waiting.wait({ requestId: 'form' }, new Token());
  token.cancel();
  assert.equal(waiting.settle('form', 'fits'), true);
  assert.deepEqual([await before, await again], ['does not fit', 'fits']);
});

test('all of them close where nobody is left to answer to', async () => {
  const waiting = new Waiting<Asked, string>(() => undefined);
  const answers = [
    waiting.wait({ requestId: 'a' }, new Token()),
    waiting.wait({ requestId: 'b' }, new Token()),
  ];
  waiting.close();
  assert.deepEqual(await Promise.all(answers), [null, null]);
  assert.deepEqual(ids(waiting), []);
});
