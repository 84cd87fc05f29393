import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';

import { build } from 'esbuild';
import { type Browser, chromium, type Page } from 'playwright-core';

import type { ChatState, FromChat, SessionView, ToChat } from '../../src/chat/messages.ts';
import { policy } from '../../src/chat/policy.ts';
import type {
  Elicitation,
  EntryBlock,
  MessageBlock,
  PermissionBlock,
  Question,
  QuestionFact,
  ToolCallBlock,
} from '../../src/protocol.ts';
import { launchOptions } from '../e2e/harness/places.ts';
import { type Theme, THEMES } from './themes.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const ORIGIN = 'http://chat.test';

declare global {
  interface Window {
    passTime?: (milliseconds: number) => void;
  }
}

/** A browser, and what is put into its pages. */
export class Chats {
  readonly #browser: Browser;
  readonly #files: Map<string, Buffer>;

  private constructor(browser: Browser, files: Map<string, Buffer>) {
    this.#browser = browser;
    this.#files = files;
  }

  /** @param page What is on the pages: the conversation alone, or the whole chat. */
  static async start(page: 'page' | 'whole' = 'page'): Promise<Chats> {
    const built = await build({
      entryPoints: {
        chat: path.join(ROOT, `test/webview/${page}.ts`),
        style: path.join(ROOT, 'webview/style.css'),
      },
      bundle: true,
      write: false,
      outdir: '/dist',
      target: 'es2022',
      format: 'iife',
      loader: { '.ttf': 'file' },
    });
    const files = new Map(
      built.outputFiles.map((it) => [`/${path.basename(it.path)}`, Buffer.from(it.contents)]),
    );
    const axe = path.join(ROOT, 'node_modules/axe-core/axe.min.js');
    files.set('/axe.js', await readFile(axe));
    const browser = await chromium.launch(launchOptions());
    return new Chats(browser, files);
  }

  async close(): Promise<void> {
    await this.#browser.close();
  }

  /** A page with an empty conversation of the session `s`. */
  async open(theme: Theme = 'vscode-dark', size = { width: 420, height: 700 }): Promise<Chat> {
    const page = await this.#browser.newPage({ viewport: size });
    const requests: string[] = [];
    const failures: string[] = [];
    await page.route('**/*', (route) => {
      const url = new URL(route.request().url());
      const body = url.origin === ORIGIN ? this.#files.get(url.pathname) : undefined;
      if (url.href === `${ORIGIN}/`) {
        return route.fulfill({ contentType: 'text/html', body: html(theme) });
      }
      if (url.pathname === '/theme.css') {
        return route.fulfill({ contentType: 'text/css', body: themeCss(theme) });
      }
      if (body) {
        return route.fulfill({ body, contentType: contentType(url.pathname) });
      }
      requests.push(url.href);
      return route.abort();
    });
    page.on('pageerror', (error) => failures.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') {
        failures.push(message.text());
      }
    });
    await page.goto(`${ORIGIN}/`);
    const chat = new Chat(page, requests, failures);
    await chat.state();
    return chat;
  }
}

function html(theme: Theme): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy('n', ORIGIN)}">
<link rel="stylesheet" href="/theme.css"><link rel="stylesheet" href="/style.css"><title>Chat</title></head>
<body class="${theme}"><main id="chat"></main><script nonce="n" src="/chat.js"></script></body></html>`;
}

function themeCss(theme: Theme): string {
  const colours = Object.entries(THEMES[theme]).map(
    ([name, value]) => `--vscode-${name}: ${value};`,
  );
  return `html { ${colours.join(' ')}
    --vscode-font-family: system-ui, "Ubuntu", "Droid Sans", sans-serif; --vscode-font-size: 13px;
    --vscode-editor-font-family: "DejaVu Sans Mono", monospace; --vscode-editor-font-size: 13px; }
    html, body, main { height: 100%; margin: 0; }
    body { background: var(--vscode-sideBar-background); padding: 0; }
    /* As VS Code has it in every page. */
    code { color: rgb(215, 186, 125); background-color: rgb(60, 60, 60); padding: 1px 3px; }
    main { display: flex; flex-direction: column; }`;
}

function contentType(name: string): string {
  return (
    { '.js': 'text/javascript', '.css': 'text/css', '.ttf': 'font/ttf' }[path.extname(name)] ?? ''
  );
}

/** One page, and what was heard of it. */
export class Chat {
  readonly page: Page;
  /** Addresses that the page wanted and did not get. */
  readonly requests: string[];
  /** Errors of the page. */
  readonly failures: string[];

  constructor(page: Page, requests: string[], failures: string[]) {
    this.page = page;
    this.requests = requests;
    this.failures = failures;
  }

  async receive(message: ToChat): Promise<void> {
    await this.page.evaluate((it) => window.chat.receive(it), message);
  }

  /** What stands beside the conversation. */
  async state(session: Partial<SessionView> = {}, state: Partial<ChatState> = {}): Promise<void> {
    await this.receive({
      type: 'state',
      state: {
        sidecar: { state: 'running' },
        sessions: [{ ...SESSION, ...session }],
        active: 's',
        agents: ['demo'],
        questions: [],
        elicitations: [],
        followEnabled: true,
        ...state,
      },
    });
  }

  async blocks(blocks: EntryBlock[], reset = false): Promise<void> {
    await this.receive({ type: 'blocks', sessionId: 's', blocks, reset });
    await this.settled();
  }

  /** What was told the extension, of one type. */
  async sent<T extends FromChat['type']>(type: T): Promise<Extract<FromChat, { type: T }>[]> {
    const all = await this.page.evaluate(() => window.chat.sent);
    return all.filter((it): it is Extract<FromChat, { type: T }> => it.type === type);
  }

  /**
   * Has no time pass in the page but by {@link later}: what comes at once does so on any machine.
   * Timers go on.
   */
  async stopTime(): Promise<void> {
    await this.page.evaluate(() => {
      let now = performance.now();
      performance.now = () => now;
      Object.defineProperty(Event.prototype, 'timeStamp', { get: () => now });
      window.passTime = (milliseconds) => {
        now += milliseconds;
      };
    });
  }

  async later(milliseconds: number): Promise<void> {
    await this.page.evaluate((it) => window.passTime?.(it), milliseconds);
  }

  /** Two frames have passed: what was to be drawn is drawn. */
  async settled(): Promise<void> {
    await this.page.evaluate(
      () =>
        new Promise<void>((resolve) =>
          requestAnimationFrame(() => requestAnimationFrame(() => resolve())),
        ),
    );
  }

  /** Nothing was loaded from elsewhere, and nothing failed. */
  assertQuiet(): void {
    assert.deepEqual(this.requests, []);
    assert.deepEqual(this.failures, []);
  }
}

export const SESSION: SessionView = {
  sessionId: 's',
  agent: 'demo',
  cwd: '/ws',
  title: null,
  status: 'idle',
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

export function message(
  id: string,
  text: string,
  role: MessageBlock['role'] = 'agent',
  more: Partial<MessageBlock> = {},
): MessageBlock {
  return {
    id,
    kind: 'message',
    messageId: id,
    role,
    content: [{ type: 'text', text }],
    turn: 1,
    ...more,
  };
}

export function toolCall(
  id: string,
  title: string,
  more: Partial<ToolCallBlock> = {},
): ToolCallBlock {
  return {
    id,
    kind: 'toolCall',
    toolCallId: id,
    title,
    name: null,
    toolKind: 'read',
    status: 'completed',
    content: [],
    locations: [],
    command: null,
    rawInput: null,
    rawOutput: null,
    turn: 1,
    closedBy: null,
    background: false,
    capabilities: null,
    cancellable: false,
    ...more,
  };
}

export function permission(id: string, more: Partial<PermissionBlock> = {}): PermissionBlock {
  return {
    id,
    kind: 'permission',
    requestId: id,
    toolCallId: null,
    headline: 'demo wants to run a command',
    message: 'demo wants to run a command',
    options: OPTIONS,
    state: 'waiting',
    optionId: null,
    rejected: null,
    title: null,
    description: null,
    subject: null,
    turn: 1,
    ...more,
  };
}

const OPTIONS = [
  { optionId: 'no', name: 'No', kind: 'reject_once', title: 'No' },
  { optionId: 'yes', name: 'Yes', kind: 'allow_once', title: 'Yes' },
  { optionId: 'always', name: 'Always', kind: 'allow_always', title: 'Always for make' },
];

export function fact(
  text: string,
  kind: QuestionFact['kind'] = 'text',
  value: unknown = null,
  note = '',
): QuestionFact {
  return { kind, text, value, note };
}

export function question(id: string, more: Partial<Question> = {}): Question {
  return {
    requestId: id,
    sessionId: 's',
    agent: 'demo',
    toolCallId: null,
    kind: 'execute',
    headline: 'demo wants to run a command',
    short: 'demo wants to run: make test',
    facts: [fact('The agent calls it: “Run the tests”')],
    message:
      'demo wants to run a command (execute, request 1)\nThe agent calls it: “Run the tests”',
    title: null,
    description: null,
    command: 'make test',
    cwd: '/ws',
    paths: [],
    locations: [],
    rawInput: null,
    diffs: [],
    options: OPTIONS,
    refusable: false,
    state: 'waiting',
    optionId: null,
    ...more,
  };
}

export function form(id: string, more: Partial<Elicitation> = {}): Elicitation {
  return {
    requestId: id,
    sessionId: 's',
    agent: 'demo',
    toolCallId: null,
    kind: 'elicitation',
    mode: 'form',
    headline: 'demo wants to know something',
    short: 'demo wants to know: How shall it be released?',
    facts: [],
    message: 'How shall it be released?',
    requestedSchema: {
      required: ['branch', 'count'],
      properties: {
        branch: {
          type: 'string',
          title: 'Branch',
          description: 'Where it goes',
          enum: ['main', 'next'],
        },
        name: { type: 'string', title: 'Name', maxLength: 40 },
        count: { type: 'integer', title: 'Copies', minimum: 1, maximum: 9 },
        sure: { type: 'boolean', title: 'Tell the others' },
        parts: { type: 'array', title: 'Parts', items: { enum: ['docs', 'code'] } },
        token: { type: 'string', title: 'Token', _meta: { secret: true } },
      },
    },
    fields: ['branch', 'name', 'count', 'sure', 'parts', 'token'],
    url: null,
    host: null,
    content: null,
    problems: [],
    ...more,
  };
}
