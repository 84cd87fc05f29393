import type { ChatState } from '../../src/chat/messages.ts';
import type { EntryBlock } from '../../src/protocol.ts';
import { form, message, permission, question, toolCall } from './harness.ts';

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mNk+M9Qz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC';

const BEFORE = `import sys


def greet(name):
    """Say hello."""
    return "Hello " + name


def main():
    print(greet(sys.argv[1]))
`;

/** A conversation with something of everything in it. */
export const SCENE: EntryBlock[] = [
  message('u1', 'Make `greet` polite, and run the tests.\nThe style guide is in docs/.', 'user', {
    content: [
      { type: 'text', text: 'Make greet polite, and run the tests.\nThe style guide is attached.' },
      { type: 'resource_link', uri: 'file:///ws/docs/style.md', name: 'style.md' },
      { type: 'image', data: PNG, mimeType: 'image/png' },
    ],
  }),
  message(
    't1',
    'The user wants a politer greeting.\n\nI should look at **greeting.py** first.',
    'thought',
  ),
  {
    id: 'p',
    kind: 'plan',
    planId: 'p',
    entries: [
      { content: 'Read greeting.py and its tests', priority: 'medium', status: 'completed' },
      { content: 'Make the greeting polite', priority: 'high', status: 'in_progress' },
      { content: 'Run the tests', priority: 'medium', status: 'pending' },
    ],
  },
  toolCall('r1', 'Read greeting.py', {
    locations: [{ path: '/ws/greeting.py', line: 4 }],
    rawInput: { path: '/ws/greeting.py' },
  }),
  toolCall('s1', 'Search “greet(”', {
    toolKind: 'search',
    locations: [
      { path: '/ws/greeting.py', line: 4 },
      { path: '/ws/tests/test_greeting.py', line: 12 },
    ],
  }),
  message(
    'a1',
    `The greeting is built in \`greeting.py:6\`. I will:

1. use an f-string,
2. greet by the time of day — see [the guide](docs/style.md).

\`\`\`python
def greet(name: str) -> str:
    """Say hello."""
    return f"Good morning, {name}!"  # polite
\`\`\`

| Case | Before | After |
|---|---|---|
| name | Hello Ada | Good morning, Ada! |
| none | *fails* | **fails** |

> Names are never changed.
`,
  ),
  toolCall('e1', 'Edit greeting.py', {
    toolKind: 'edit',
    locations: [{ path: '/ws/greeting.py', line: 6 }],
    content: [
      {
        type: 'diff',
        path: '/ws/greeting.py',
        oldText: BEFORE,
        newText: BEFORE.replace('"Hello " + name', 'f"Good morning, {name}!"'),
      },
    ],
  }),
  permission('q0', { state: 'answered', optionId: 'yes', rejected: false }),
  toolCall('x1', 'Run the tests', {
    toolKind: 'execute',
    status: 'in_progress',
    content: [
      {
        type: 'terminal',
        terminalId: 'term',
        terminal: {
          terminalId: 'term',
          command: 'python -m pytest tests -q --maxfail=1',
          cwd: '/ws',
          output:
            '..........                                      [ 62%]\ntests/test_greeting.py ...',
          truncated: false,
          exitStatus: null,
        },
      },
    ],
  }),
  toolCall('x2', 'Fetch https://example.org/style', {
    toolKind: 'fetch',
    status: 'failed',
    rawOutput: 'HTTP 503',
    content: [{ type: 'content', content: { type: 'text', text: 'The server answered **503**.' } }],
  }),
  {
    id: 'n1',
    kind: 'notice',
    noticeId: 'n1',
    severity: 'warning',
    title: 'The context is nearly full',
    description: 'Older messages will be shortened soon.',
  },
  {
    id: 'c1',
    kind: 'compaction',
    compactionId: 'c1',
    status: 'completed',
    summary: 'The user wants a polite greeting.',
    error: null,
  },
  permission('q1'),
];

/** What waits in that conversation. */
export const ASKED: Partial<ChatState> = {
  questions: [
    question('q1', {
      command: 'git commit -am "Greet politely" && git push origin HEAD:main',
      description: null,
      rawInput: { command: 'git commit -am "Greet politely" && git push origin HEAD:main' },
    }),
  ],
};

export const FORM: Partial<ChatState> = {
  elicitations: [
    form('f1', { problems: [{ field: 'count', message: 'Say a number from 1 to 9' }] }),
  ],
};
