import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Elicitation, FormField } from '../../src/protocol.ts';
import { type Field, fieldsOf, parsed, shownValue } from '../../src/questions/form_fields.ts';

function fields(properties: Record<string, FormField>, more: Partial<Elicitation> = {}): Field[] {
  return fieldsOf({
    requestId: 'elicitation-1',
    sessionId: null,
    agent: 'demo',
    toolCallId: null,
    kind: 'elicitation',
    mode: 'form',
    headline: 'demo wants to know something',
    short: 'demo wants to know something',
    facts: [],
    message: '',
    requestedSchema: { properties, required: ['b'] },
    fields: Object.keys(properties),
    url: null,
    host: null,
    content: null,
    problems: [],
    ...more,
  });
}

test('the fields come in the order of the agent, what is not known is left out', () => {
  const found = fields(
    { a: { type: 'string' }, b: { type: 'integer', title: 'B' }, c: { type: 'object' } },
    { fields: ['b', 'a', 'c', 'toString'] },
  );
  assert.deepEqual(
    found.map(({ name, title, required }) => [name, title, required]),
    [
      ['b', 'B', true],
      ['a', 'a', false],
    ],
  );
});

test('what can be chosen has titles, also of several', () => {
  const titled = [{ const: 'x', title: 'The X' }];
  const [one, two, three, four] = fields({
    one: { type: 'string', enum: ['x'], enumNames: ['The X'] },
    two: { type: 'string', oneOf: titled },
    three: { type: 'array', items: { anyOf: titled } },
    four: { type: 'boolean' },
  });
  for (const field of [one, two, three]) {
    assert.deepEqual(field?.choices, [{ value: 'x', title: 'The X' }]);
  }
  assert.equal(three && shownValue(three, ['x', 'y']), 'The X, y');
  assert.equal(four && shownValue(four, false), 'No');
});

test('what was filled in comes before what was proposed', () => {
  const [field] = fields(
    { a: { type: 'string', default: 'main' } },
    { content: { a: 'next' }, problems: [] },
  );
  assert.equal(field?.proposed, 'next');
});

test('a secret is never shown', () => {
  const [field] = fields({ key: { type: 'string', _meta: { secret: true } } });
  assert.ok(field?.secret);
  assert.doesNotMatch(shownValue(field, 'sk-123'), /sk|123/);
});

test('a number is one where it can be, and else the sidecar says what is wrong', () => {
  const [number, text] = fields({ n: { type: 'number' }, t: { type: 'string' } });
  assert.ok(number && text);
  assert.equal(parsed(number, '2.5'), 2.5);
  assert.equal(parsed(number, 'two'), 'two');
  assert.equal(parsed(number, ''), undefined);
  assert.equal(parsed(text, '2.5'), '2.5');
});
