import { CHAT_COMMANDS, type FromChat } from './messages.ts';

type Check = (value: unknown) => boolean;

const text: Check = (value) => typeof value === 'string';
const count: Check = (value) => typeof value === 'number' && Number.isInteger(value) && value >= 0;
const choice: Check = (value) => typeof value === 'string' || typeof value === 'boolean';
const optional =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const shape =
  (fields: Record<string, Check>): Check =>
  (value) =>
    isRecord(value) && Object.entries(fields).every(([name, check]) => check(value[name]));

const images = listOf(
  shape({ mimeType: (value) => text(value) && String(value).startsWith('image/'), data: text }),
);
const draft = shape({ text, images });
const session = { sessionId: text };

/** What each message must hold. */
const MESSAGES: Record<FromChat['type'], Check> = {
  ready: shape({}),
  prompt: shape({ sessionId: optional(text), agent: optional(text), text, images }),
  cancel: shape(session),
  editQueued: shape({ ...session, turnId: text, text }),
  dropQueued: shape({ ...session, turnId: text }),
  setMode: shape({ ...session, modeId: text }),
  setConfigOption: shape({ ...session, configId: text, value: choice }),
  answer: shape({ requestId: text, optionId: optional(text) }),
  answerForm: shape({
    requestId: text,
    answer: shape({
      action: (value) => value === 'accept' || value === 'decline' || value === 'cancel',
      content: (value) => value === undefined || isRecord(value),
    }),
  }),
  previewQuestion: shape({ requestId: text }),
  openPath: shape({ ...session, path: text, line: optional(count) }),
  openDiff: shape({ ...session, toolCallId: text, index: count }),
  openLink: shape({ href: (value) => text(value) && /^https?:/iu.test(String(value)) }),
  copy: shape({ text }),
  complete: shape({ id: count, sessionId: optional(text), text, cursor: count }),
  openTerminal: shape({ ...session, terminalId: text }),
  killTerminal: shape({ ...session, terminalId: text }),
  cancelToolCall: shape({ ...session, toolCallId: text }),
  newSession: shape({ agent: optional(text) }),
  cancelStart: shape({}),
  selectSession: shape(session),
  closeSession: shape(session),
  wake: shape(session),
  showHistory: shape({}),
  openChanges: shape(session),
  toggleFollow: shape({}),
  focus: shape({ has: (value) => typeof value === 'boolean' }),
  addFiles: shape({ uris: listOf(text) }),
  draft: shape({ sessionId: optional(text), draft }),
  run: shape({ command: (value) => CHAT_COMMANDS.some((command) => command === value) }),
};

/** A message of the chat's, or null where it is none: a page is not to be believed. */
export function fromChat(message: unknown): FromChat | null {
  if (!isRecord(message) || typeof message.type !== 'string') {
    return null;
  }
  const check = Object.hasOwn(MESSAGES, message.type)
    ? MESSAGES[message.type as FromChat['type']]
    : null;
  return check?.(message) ? (message as FromChat) : null;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
