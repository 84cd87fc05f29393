import type { ChatState, FromChat, SessionView } from '../src/chat/messages.ts';
import type { SessionStatus, Usage } from '../src/protocol.ts';
import { STATUS_WORDS } from '../src/sessions/status.ts';
import { element, icon, iconButton, Part } from './element.ts';
import { showMenu } from './menu.ts';
import { basename } from './paths.ts';
import { usageText } from './usage.ts';
import { visible } from './visible.ts';

type Send = (message: FromChat) => void;

interface Tab {
  sessionId: string;
  label: string;
  agent: string;
  folder: string;
  status: SessionStatus;
  questions: number;
  selected: boolean;
}

/** The sessions as tabs, and what can be done with them. */
export class Header {
  readonly element: HTMLElement;
  readonly #tabs: Part<Tab[]>;
  readonly #tools: Part<unknown>;
  readonly #send: Send;
  #state: ChatState | null = null;

  constructor(send: Send) {
    this.#send = send;
    const tabs = element('div', { class: 'tabs', role: 'tablist', 'aria-label': 'Sessions' });
    tabs.addEventListener('keydown', (event) => this.#key(event));
    tabs.addEventListener('wheel', (event) => {
      tabs.scrollLeft += event.deltaX + event.deltaY;
    });
    const tools = element('div', { class: 'tools', role: 'toolbar', 'aria-label': 'Session' });
    this.#tabs = new Part(tabs, (all) => all.map((tab) => this.#tab(tab)));
    this.#tools = new Part(tools, () => this.#drawTools());
    this.element = element('header', { class: 'header' }, tabs, tools);
  }

  show(state: ChatState): void {
    this.#state = state;
    const several = new Set(state.sessions.map((session) => session.cwd)).size > 1;
    this.#tabs.show(
      state.sessions.map((session) => ({
        sessionId: session.sessionId,
        label: visible(session.title ?? '') || `New session with ${session.agent || 'the agent'}`,
        agent: session.agent,
        folder: several ? basename(session.cwd) : '',
        status: session.status,
        questions: questionsOf(state, session.sessionId),
        selected: session.sessionId === state.active,
      })),
    );
    this.#tabs.element
      .querySelector('[aria-selected="true"]')
      ?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    const active = state.sessions.find((session) => session.sessionId === state.active);
    this.#tools.show([
      state.agents,
      state.followEnabled,
      state.sidecar.state,
      active?.sessionId,
      active?.changes,
      active?.usage,
      active?.follow?.paused,
    ]);
  }

  #tab(tab: Tab): HTMLElement {
    const asks = tab.questions > 0 ? `, ${tab.questions} waiting` : '';
    const status = STATUS_WORDS[tab.status];
    const who = `${tab.agent}${tab.folder ? ` in ${tab.folder}` : ''}`;
    return element(
      'div',
      { class: tab.selected ? 'tab selected' : 'tab', role: 'presentation' },
      element(
        'button',
        {
          type: 'button',
          class: 'tab-button',
          role: 'tab',
          id: `tab-${tab.sessionId}`,
          'aria-selected': String(tab.selected),
          'aria-controls': 'conversation',
          'aria-keyshortcuts': 'Delete',
          'aria-label': `${tab.label}, ${who}, ${status}${asks}`,
          tabindex: tab.selected ? '0' : '-1',
          'data-key': tab.sessionId,
          'data-session': tab.sessionId,
          title: `${tab.label}\n${who}: ${status}`,
          on: {
            click: () => this.#send({ type: 'selectSession', sessionId: tab.sessionId }),
            auxclick: (event) => {
              if (event.button === 1) {
                this.#send({ type: 'closeSession', sessionId: tab.sessionId });
              }
            },
          },
        },
        element('span', { class: `dot ${tab.status}` }),
        element('span', { class: 'tab-label', text: tab.label }),
        tab.folder ? element('span', { class: 'tab-folder', text: tab.folder }) : null,
        tab.questions > 0 ? element('span', { class: 'count', text: String(tab.questions) }) : null,
      ),
      iconButton(
        'close',
        `Close the session: ${tab.label}`,
        () => this.#send({ type: 'closeSession', sessionId: tab.sessionId }),
        // For the mouse: by keys it is Delete, and a list of tabs has nothing but tabs.
        { class: 'tab-close', tabindex: '-1', 'aria-hidden': 'true', title: 'Close the session' },
      ),
    );
  }

  #key(event: KeyboardEvent): void {
    const tabs = [...this.#tabs.element.querySelectorAll<HTMLElement>('[role="tab"]')];
    const at = tabs.findIndex((tab) => tab === document.activeElement);
    const to: Record<string, number> = {
      ArrowRight: (at + 1) % tabs.length,
      ArrowLeft: (at + tabs.length - 1) % tabs.length,
      Home: 0,
      End: tabs.length - 1,
    };
    if (at < 0) {
      return;
    }
    const next = tabs[to[event.key] ?? -1];
    if (next) {
      event.preventDefault();
      next.focus();
      next.click();
    } else if (event.key === 'Delete') {
      const sessionId = tabs[at]?.dataset.session;
      if (sessionId) {
        this.#send({ type: 'closeSession', sessionId });
      }
    }
  }

  #drawTools(): (Node | null)[] {
    const state = this.#state;
    if (state === null) {
      return [];
    }
    const active = state.sessions.find((session) => session.sessionId === state.active);
    const running = state.sidecar.state === 'running';
    return [
      active ? usageMeter(active.usage) : null,
      active ? changesButton(active, this.#send) : null,
      followButton(state, active, this.#send),
      iconButton('history', 'Earlier sessions', () => this.#send({ type: 'showHistory' }), {
        'data-key': 'history',
        disabled: !running,
      }),
      newButton(state.agents, running, this.#send),
    ];
  }
}

/** Questions and forms that wait in a session. */
function questionsOf(state: ChatState, sessionId: string): number {
  return [...state.questions, ...state.elicitations].filter((it) => it.sessionId === sessionId)
    .length;
}

function newButton(agents: string[], enabled: boolean, send: Send): HTMLElement {
  const start = (agent: string | null) => send({ type: 'newSession', agent });
  const several = agents.length > 1;
  const button = iconButton(
    'add',
    'New session',
    () => {
      if (several) {
        showMenu(
          button,
          'Agent of the new session',
          agents.map((name) => ({ id: name, label: name })),
          start,
        );
      } else {
        start(null);
      }
    },
    {
      'data-key': 'new',
      disabled: !enabled,
      ...(several ? { 'aria-haspopup': 'listbox', 'aria-expanded': 'false' } : {}),
    },
  );
  return button;
}

function followButton(state: ChatState, active: SessionView | undefined, send: Send): HTMLElement {
  const on = state.followEnabled;
  const paused = on && active?.follow?.paused === true;
  const label = !on
    ? 'The agent is not followed'
    : paused
      ? 'Following pauses until the next prompt'
      : 'The agent is followed in the editor';
  return iconButton(on ? 'eye' : 'eye-closed', 'Follow', () => send({ type: 'toggleFollow' }), {
    'data-key': 'follow',
    class: on && !paused ? 'on' : '',
    'aria-pressed': String(on),
    title: label,
  });
}

function changesButton({ sessionId, changes }: SessionView, send: Send): HTMLElement | null {
  if (changes === 0) {
    return null;
  }
  const label = changes === 1 ? '1 change to review' : `${changes} changes to review`;
  return element(
    'button',
    {
      type: 'button',
      class: 'icon-button changes',
      'data-key': 'changes',
      title: label,
      'aria-label': label,
      on: { click: () => send({ type: 'openChanges', sessionId }) },
    },
    icon('diff'),
    element('span', { class: 'count', text: String(changes) }),
  );
}

/** How full the agent's memory is. Nothing where the agent does not say. */
function usageMeter(usage: Usage | null): HTMLElement | null {
  const words = usage && usageText(usage);
  if (!words) {
    return null;
  }
  const full = usage.size ? Math.min((usage.used ?? 0) / usage.size, 1) : 0;
  const pie = element('span', { class: full > 0.85 ? 'usage-pie high' : 'usage-pie' });
  pie.style.setProperty('--full', `${Math.round(full * 360)}deg`);
  return element(
    'span',
    {
      class: 'usage',
      role: 'meter',
      'aria-label': 'Used of the context',
      'aria-valuemin': '0',
      'aria-valuemax': '100',
      'aria-valuenow': String(Math.round(full * 100)),
      'aria-valuetext': words,
      title: words,
    },
    pie,
  );
}
