import type { ChatCommand, ChatState, SessionView } from '../src/chat/messages.ts';
import { element, icon } from './element.ts';
import { visible } from './visible.ts';

interface Page {
  icon: string;
  title: string;
  text: string;
  actions: [command: ChatCommand, label: string][];
}

/** What there is to see without a conversation: why there is none, and what can be done. */
export function welcome(
  state: ChatState | null,
  session: SessionView | null,
  run: (command: ChatCommand) => void,
): HTMLElement {
  const page = pageOf(state, session);
  return element(
    'div',
    { class: 'welcome' },
    icon(page.icon),
    element('h2', { text: page.title }),
    element('p', { text: page.text }),
    ...page.actions.map(([command, label], index) =>
      element('button', {
        type: 'button',
        class: index === 0 ? 'primary-button' : 'secondary-button',
        'data-key': command,
        text: label,
        on: { click: () => run(command) },
      }),
    ),
  );
}

function pageOf(state: ChatState | null, session: SessionView | null): Page {
  const sidecar = state?.sidecar ?? { state: 'starting' as const };
  switch (sidecar.state) {
    case 'starting':
      return { icon: 'loading', title: 'Starting…', text: 'It takes a moment.', actions: [] };
    case 'untrusted':
      return {
        icon: 'workspace-untrusted',
        title: 'This folder is not trusted',
        text: 'Agents run commands and change files: none starts before you trust the folder.',
        actions: [['workbench.trust.manage', 'Manage trust']],
      };
    case 'noFolder':
      return {
        icon: 'folder-opened',
        title: 'No folder is open',
        text: 'An agent works in a folder.',
        actions: [['workbench.action.files.openFolder', 'Open a folder']],
      };
    case 'missing':
      return {
        icon: 'package',
        title: 'One thing is missing',
        text: sidecar.reason,
        actions: [
          ['acp.makeEnvironment', 'Set it up for me'],
          ['acp.choosePython', 'Choose a Python'],
          ['acp.doctor', 'What is wrong?'],
        ],
      };
    case 'failed':
      return {
        icon: 'error',
        title: 'It does not run',
        text: sidecar.reason,
        actions: [
          ['acp.restartSidecar', 'Start again'],
          ['acp.showLog', 'Show the log'],
          ['acp.doctor', 'What is wrong?'],
        ],
      };
    case 'running':
      return ready(state, session);
  }
}

function ready(state: ChatState | null, session: SessionView | null): Page {
  const agent = visible(session?.agent ?? state?.agents[0] ?? '');
  return {
    icon: 'comment-discussion',
    title: agent === '' ? 'Ask an agent' : `Ask ${agent}`,
    text: 'You see where it works, answer its questions, and review each change. @ adds a file, / a command.',
    actions: agent === '' ? [['acp.tryDemo', 'Try the demo agent']] : [],
  };
}
