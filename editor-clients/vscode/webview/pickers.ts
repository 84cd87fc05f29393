import type { FromChat, SessionView } from '../src/chat/messages.ts';
import type { ConfigOption } from '../src/protocol.ts';
import { element, icon, Part } from './element.ts';
import { type MenuItem, showMenu } from './menu.ts';
import { visible, visibleLines } from './visible.ts';

type Send = (message: FromChat) => void;

/** What is drawn of a session, or, without one, the agents there are. */
export interface Pickable {
  session: Pick<SessionView, 'sessionId' | 'modes' | 'configOptions'> | null;
  agents: string[];
  agent: string | null;
}

/** Mode, model and the other options of a session, as the agent offers them. */
export class Pickers {
  readonly element = element('div', { class: 'pickers' });
  readonly #part: Part<Pickable>;

  constructor(send: Send, chooseAgent: (agent: string) => void) {
    this.#part = new Part(this.element, ({ session, agents, agent }) =>
      session
        ? [
            modePicker(session, send),
            ...session.configOptions.map((it) => option(session, it, send)),
          ]
        : [agentPicker(agents, agent, chooseAgent)],
    );
  }

  show(pickable: Pickable): void {
    this.#part.show(pickable);
  }
}

type Picked = NonNullable<Pickable['session']>;

function modePicker({ sessionId, modes, configOptions }: Picked, send: Send): Node | null {
  // An agent that has both gives its modes as an option too.
  if (!modes || modes.availableModes.length === 0 || configOptions.some(isMode)) {
    return null;
  }
  return dropdown({
    key: 'mode',
    name: 'Mode',
    symbol: null,
    items: modes.availableModes.map((mode) => ({
      id: mode.id,
      label: mode.name,
      detail: mode.description ?? null,
      checked: mode.id === modes.currentModeId,
    })),
    current: modes.currentModeId,
    choose: (modeId) => send({ type: 'setMode', sessionId, modeId }),
  });
}

function isMode(option: ConfigOption): boolean {
  return option.category === 'mode';
}

function option({ sessionId }: Picked, it: ConfigOption, send: Send): Node | null {
  const set = (value: string | boolean) =>
    send({ type: 'setConfigOption', sessionId, configId: it.id, value });
  if (typeof it.currentValue === 'boolean') {
    const on = it.currentValue;
    return element(
      'button',
      {
        type: 'button',
        class: on ? 'picker toggle on' : 'picker toggle',
        role: 'switch',
        'aria-checked': String(on),
        'data-key': `option:${it.id}`,
        title: visibleLines([it.name, it.description].filter(Boolean).join('\n')),
        on: { click: () => set(!on) },
      },
      icon(on ? 'check' : 'circle-slash'),
      element('span', { class: 'picker-text', text: visible(it.name) }),
    );
  }
  const items = choices(it);
  return items.length === 0
    ? null
    : dropdown({
        key: `option:${it.id}`,
        name: it.name,
        symbol: null,
        description: it.description ?? null,
        items,
        current: it.currentValue,
        choose: set,
      });
}

/** The choices of an option in the agent's order, groups with their names. */
function choices(it: ConfigOption): MenuItem[] {
  return (it.options ?? []).flatMap((entry) => {
    const inner = 'group' in entry ? entry.options : [entry];
    return inner.map((choice) => ({
      id: choice.value,
      label: choice.name,
      detail: choice.description ?? null,
      group: 'group' in entry ? entry.name : null,
      checked: choice.value === it.currentValue,
    }));
  });
}

function agentPicker(agents: string[], agent: string | null, choose: (agent: string) => void) {
  const current = agent ?? agents[0];
  if (current === undefined) {
    return null;
  }
  return dropdown({
    key: 'agent',
    name: 'Agent',
    symbol: 'hubot',
    items: agents.map((name) => ({ id: name, label: name, checked: name === current })),
    current,
    choose,
  });
}

interface Dropdown {
  key: string;
  name: string;
  symbol: string | null;
  description?: string | null;
  items: MenuItem[];
  current: string;
  choose: (id: string) => void;
}

function dropdown(it: Dropdown): HTMLElement {
  const current = visible(it.items.find((item) => item.id === it.current)?.label ?? it.current);
  const name = visible(it.name);
  const button = element(
    'button',
    {
      type: 'button',
      class: 'picker',
      'aria-haspopup': 'listbox',
      'aria-expanded': 'false',
      'aria-label': `${name}: ${current}`,
      'data-key': it.key,
      title: visibleLines([`${name}: ${current}`, it.description].filter(Boolean).join('\n')),
      on: { click: () => showMenu(button, name, it.items, it.choose) },
    },
    it.symbol ? icon(it.symbol) : null,
    element('span', { class: 'picker-text', text: current }),
    icon('chevron-down'),
  );
  return button;
}
