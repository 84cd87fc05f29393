import type { ChatState, FromChat, ToChat } from '../src/chat/messages.ts';
import { inTurn } from '../src/sessions/status.ts';
import { Announcer } from './announcing.ts';
import { element, Part } from './element.ts';
import { Empty, problem } from './empty.ts';
import { Header } from './header.ts';
import { afterPress } from './pressing.ts';
import { Prompt } from './prompt.ts';
import { Queue } from './queue.ts';
import { Sent } from './sent.ts';
import { Strip } from './strip.ts';
import { Transcript } from './transcript.ts';

const vscode = acquireVsCodeApi();

/** The chat, put together from its parts. */
class Chat {
  readonly #announcer = new Announcer();
  readonly #sent = new Sent();
  readonly #header = new Header(send);
  readonly #conversation = element('div', {
    class: 'conversation',
    id: 'conversation',
    role: 'tabpanel',
    'aria-label': 'Conversation',
  });
  readonly #transcript = new Transcript(this.#conversation, send);
  readonly #prompt = new Prompt(send, () => this.#sent.of(this.#state?.active ?? null));
  readonly #empty = new Empty(send, (text) => this.#prompt.suggest(text));
  readonly #queue = new Queue(send);
  readonly #strip = new Strip(send, (requestId) => this.#goTo(requestId));
  readonly #notice: Part<ChatState['sidecar']>;
  #state: ChatState | null = null;

  constructor(root: HTMLElement) {
    const notice = element('div', { class: 'notice-bar' });
    this.#notice = new Part(notice, (sidecar) => problem(sidecar, send));
    root.append(
      this.#header.element,
      this.#conversation,
      this.#empty.element,
      notice,
      this.#strip.element,
      this.#queue.element,
      this.#prompt.element,
      this.#announcer.element,
    );
    this.#strip.above(this.#queue.element, this.#prompt.element);
    document.addEventListener('keydown', (event) => {
      if (event.key === '.' && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        this.#prompt.cancel();
      }
    });
  }

  receive(message: ToChat): void {
    switch (message.type) {
      case 'state':
        this.#draw({ ...this.#asked(), ...message.state });
        break;
      case 'blocks':
        this.#sent.take(message);
        this.#transcript.apply(message);
        this.#drawEmpty();
        break;
      case 'terminal':
      case 'showQuestion':
        this.#transcript.apply(message);
        break;
      case 'completions':
        this.#prompt.completions(message.id, message.items);
        break;
      case 'insert':
        this.#prompt.insert(message.text);
        break;
      case 'draft':
        this.#prompt.setDraft(message.sessionId, message.draft);
        break;
      case 'putBack':
        this.#prompt.putBack(message.sessionId, message.draft);
        break;
      case 'superseded':
        this.#prompt.superseded(message.sessionId, message.by);
        break;
      case 'focusPrompt':
        this.#prompt.focus();
        break;
    }
  }

  /** What was asked when that was told last. */
  #asked(): Pick<ChatState, 'questions' | 'elicitations'> {
    const { questions, elicitations } = this.#state ?? { questions: [], elicitations: [] };
    return { questions, elicitations };
  }

  #draw(state: ChatState): void {
    const before = this.#state;
    this.#state = state;
    this.#sent.keep(state.sessions.map((session) => session.sessionId));
    this.#transcript.setState(state);
    if (before?.active !== state.active) {
      this.#transcript.show(state.active);
    }
    this.#header.show(state);
    this.#strip.show(state);
    this.#drawEmpty();
    const active = state.sessions.find((session) => session.sessionId === state.active) ?? null;
    this.#queue.show(active?.sessionId ?? '', active?.queue ?? []);
    this.#prompt.show({
      sessionId: active?.sessionId ?? null,
      running: inTurn(active?.status),
      sidecar:
        state.sidecar.state === 'running' || state.sidecar.state === 'starting'
          ? state.sidecar.state
          : 'none',
      starting: state.starting ?? null,
      agentName: active?.agent ?? state.agents[0] ?? null,
      session: active,
      agents: state.agents,
      agent: state.agents[0] ?? null,
    });
    this.#announcer.announce(before, state);
  }

  /** The conversation, or what stands for it while there is none. */
  #drawEmpty(): void {
    const state = this.#state;
    if (!state) {
      return;
    }
    const active = state.sessions.find((session) => session.sessionId === state.active);
    const asked = [...state.questions, ...state.elicitations].some(
      (it) => it.sessionId === state.active,
    );
    const empty = !active || (this.#sent.isEmpty(active.sessionId) && !asked);
    const running = state.sidecar.state === 'running';
    this.#conversation.hidden = empty;
    this.#empty.element.hidden = !empty;
    this.#empty.show({
      sidecar: state.sidecar,
      agent: active?.agent ?? null,
      asleep: active?.asleep ? { sessionId: active.sessionId, ...active.asleep } : null,
      demo: state.sessions.length === 0,
    });
    this.#notice.element.hidden = empty || running;
    this.#notice.show(state.sidecar);
  }

  #goTo(requestId: string): void {
    const state = this.#state;
    const asked = [...(state?.questions ?? []), ...(state?.elicitations ?? [])];
    const sessionId = asked.find((it) => it.requestId === requestId)?.sessionId;
    if (state && sessionId && sessionId !== state.active) {
      this.#draw({ ...state, active: sessionId });
      send({ type: 'selectSession', sessionId });
    }
    this.#transcript.apply({ type: 'showQuestion', requestId });
  }
}

function send(message: FromChat): void {
  vscode.postMessage(message);
}

const root = document.getElementById('chat');
if (root) {
  const chat = new Chat(root);
  window.addEventListener('message', (event: MessageEvent<ToChat>) =>
    afterPress(() => chat.receive(event.data)),
  );
  window.addEventListener('focus', () => send({ type: 'focus', has: true }));
  window.addEventListener('blur', () => send({ type: 'focus', has: false }));
  send({ type: 'ready' });
  send({ type: 'focus', has: document.hasFocus() });
}
