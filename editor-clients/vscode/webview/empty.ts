import type { ChatCommand, FromChat, SidecarView } from '../src/chat/messages.ts';
import { element, icon, Part } from './element.ts';

type Send = (message: FromChat) => void;

/** Where the conversation would be, as long as there is none. */
export interface EmptyView {
  sidecar: SidecarView;
  /** The agent that answers, if it is known. */
  agent: string | null;
  /** The session, while it is not open again yet. */
  asleep: { sessionId: string; problem: string | null } | null;
  /** Whether the demo agent is of use: no session is open. */
  demo: boolean;
}

const SUGGESTIONS = [
  { symbol: 'book', text: 'Explain how this project is put together' },
  { symbol: 'bug', text: 'Find a bug in the open files and mend it' },
  { symbol: 'beaker', text: 'Write tests for the code that has none' },
];

/** What can be done where there is no conversation. */
export class Empty {
  readonly element = element('section', { class: 'empty', 'aria-label': 'Start' });
  readonly #part: Part<EmptyView>;

  constructor(send: Send, suggest: (text: string) => void) {
    this.#part = new Part(this.element, (view) =>
      view.sidecar.state !== 'running'
        ? problem(view.sidecar, send)
        : view.asleep
          ? asleep(view.asleep, send)
          : welcome(view, send, suggest),
    );
  }

  show(view: EmptyView): void {
    this.#part.show(view);
  }
}

function welcome({ agent, demo }: EmptyView, send: Send, suggest: (text: string) => void): Node[] {
  return [
    mark('hubot'),
    element('h1', { text: agent ? `What shall ${agent} do?` : 'What shall be done?' }),
    element('p', {
      text: 'The agent asks before it does what matters, and each of its changes can be kept or reverted.',
    }),
    element(
      'div',
      { class: 'suggestions' },
      ...SUGGESTIONS.map(({ symbol, text }) =>
        element(
          'button',
          {
            type: 'button',
            class: 'suggestion',
            'data-key': text,
            on: { click: () => suggest(text) },
          },
          icon(symbol),
          element('span', { text }),
        ),
      ),
    ),
    ...(demo
      ? [
          element(
            'button',
            {
              type: 'button',
              class: 'link-button',
              'data-key': 'demo',
              on: { click: () => send({ type: 'run', command: 'acp.tryDemo' }) },
            },
            'Try the demo agent',
          ),
        ]
      : []),
  ];
}

function asleep(it: NonNullable<EmptyView['asleep']>, send: Send): Node[] {
  if (it.problem === null) {
    return [
      mark('loading codicon-modifier-spin'),
      element('p', { role: 'status', text: 'Opening the session…' }),
    ];
  }
  return [
    mark('error'),
    element('h1', { text: 'The session could not be opened' }),
    element('p', { text: it.problem }),
    element(
      'div',
      { class: 'buttons' },
      element('button', {
        type: 'button',
        class: 'button',
        'data-key': 'wake',
        text: 'Try Again',
        on: { click: () => send({ type: 'wake', sessionId: it.sessionId }) },
      }),
      element('button', {
        type: 'button',
        class: 'button secondary',
        'data-key': 'close',
        text: 'Close the Session',
        on: { click: () => send({ type: 'closeSession', sessionId: it.sessionId }) },
      }),
    ),
  ];
}

/** What is amiss with the sidecar, and what mends it. */
export function problem(sidecar: SidecarView, send: Send): Node[] {
  const button = (label: string, command: ChatCommand, secondary = false) =>
    element('button', {
      type: 'button',
      class: secondary ? 'button secondary' : 'button',
      'data-key': command,
      text: label,
      on: { click: () => send({ type: 'run', command }) },
    });
  const buttons = (...made: Node[]) => element('div', { class: 'buttons' }, ...made);
  switch (sidecar.state) {
    case 'running':
      return [];
    case 'starting':
      return [
        mark('loading codicon-modifier-spin'),
        element('p', { role: 'status', text: sidecar.message ?? 'Starting…' }),
      ];
    case 'untrusted':
      return [
        mark('workspace-untrusted'),
        element('h1', { text: 'This folder is not trusted' }),
        element('p', {
          text: 'Agents run commands and change files: none starts before you trust the folder.',
        }),
        buttons(button('Manage Trust', 'workbench.trust.manage')),
      ];
    case 'noFolder':
      return [
        mark('folder'),
        element('h1', { text: 'No folder is open' }),
        element('p', { text: 'An agent works in a folder. Open the one it is to work in.' }),
        buttons(button('Open Folder', 'workbench.action.files.openFolder')),
      ];
    case 'missing':
      return [
        mark('package'),
        element('h1', { text: 'The sidecar is not installed' }),
        element('p', { text: sidecar.reason }),
        buttons(
          button('Make an Environment', 'acp.makeEnvironment'),
          button('Choose a Python', 'acp.choosePython', true),
        ),
      ];
    case 'failed':
      return [
        mark('error'),
        element('h1', { text: 'The sidecar does not run' }),
        element('p', { text: sidecar.reason }),
        buttons(
          button('Restart', 'acp.restartSidecar'),
          button('Show Log', 'acp.showLog', true),
          button('Doctor', 'acp.doctor', true),
        ),
      ];
  }
}

function mark(symbol: string): HTMLElement {
  return element('div', { class: 'empty-mark' }, icon(symbol));
}
