import { inFront, isEmpty } from '../src/chat/draft.ts';
import type { Draft, FromChat } from '../src/chat/messages.ts';
import type { Completion } from '../src/protocol.ts';
import { CompletionList } from './completion.ts';
import { element, icon, iconButton } from './element.ts';
import { Images } from './images.ts';
import { type Pickable, Pickers } from './pickers.ts';

/** What the prompt depends on. */
export interface PromptView extends Pickable {
  sessionId: string | null;
  /** A turn runs: what is sent waits for its end. */
  running: boolean;
  /** Whether there is somebody to send it to: now, in a moment, or not. */
  sidecar: 'running' | 'starting' | 'none';
  /** The agent that is being started, if one is. */
  starting: string | null;
  agentName: string | null;
}

const DRAFT_DELAY = 100;

/** Where the user types. What is typed is kept by session, and told to the extension. */
export class Prompt {
  readonly element: HTMLElement;
  readonly #send: (message: FromChat) => void;
  readonly #sent: () => string[];
  readonly #field: HTMLTextAreaElement;
  readonly #completion: CompletionList;
  readonly #images: Images;
  readonly #pickers: Pickers;
  readonly #say = element('p', { class: 'prompt-note', role: 'status', hidden: true });
  readonly #stop: HTMLButtonElement;
  readonly #submit: HTMLButtonElement;
  readonly #drafts = new Map<string | null, Draft>();
  #view: PromptView | null = null;
  #agent: string | null = null;
  #timer: ReturnType<typeof setTimeout> | null = null;
  /** Sent while the sidecar was starting. */
  #held = false;
  /** How many prompts back the shown one is, 0 for none of them. */
  #back = 0;

  /** @param sent the prompts of the shown session, oldest first */
  constructor(send: (message: FromChat) => void, sent: () => string[]) {
    this.#send = send;
    this.#sent = sent;
    this.#field = element('textarea', {
      class: 'prompt-field',
      rows: '1',
      'aria-label': 'Prompt',
      spellcheck: 'true',
    });
    this.#images = new Images(
      () => this.#edited(),
      (text) => this.#note(text),
      () => this.#field.focus(),
    );
    this.#completion = new CompletionList(
      this.#field,
      send,
      () => {
        this.#edited();
        this.#ask();
      },
      () => this.submit(),
    );
    this.#pickers = new Pickers(send, (agent) => {
      this.#agent = agent;
      this.#draw();
    });
    this.#stop = iconButton('debug-stop', 'Cancel the turn', () => this.cancel(), {
      class: 'stop',
    });
    this.#submit = iconButton('arrow-up', 'Send', () => this.submit(), {
      class: 'send',
      title: 'Send (Enter)',
    });
    const mention = iconButton('mention', 'Name a file', () => this.#mention());
    this.element = element(
      'section',
      { class: 'prompt', 'aria-label': 'Prompt' },
      this.#say,
      this.#completion.element,
      element(
        'div',
        { class: 'prompt-box' },
        this.#images.element,
        this.#field,
        element(
          'div',
          { class: 'prompt-row' },
          mention,
          this.#pickers.element,
          element('div', { class: 'prompt-buttons' }, this.#stop, this.#submit),
        ),
      ),
    );
    this.#listen();
  }

  show(view: PromptView): void {
    const before = this.#view;
    this.#view = view;
    if (before && before.sessionId !== view.sessionId) {
      this.#switch(before.sessionId, view.sessionId);
    }
    this.#draw();
    if (this.#held && view.sidecar !== 'starting') {
      this.#held = false;
      this.submit();
    }
  }

  completions(id: number, items: Completion[]): void {
    this.#completion.show(id, items);
  }

  /** Puts a text at the end of what is typed. */
  insert(text: string): void {
    const { value } = this.#field;
    const space = value === '' || /\s$/u.test(value) ? '' : ' ';
    this.#set({ text: value + space + text, images: this.#images.all() });
    this.focus();
  }

  /** Replaces what is typed in a session. */
  setDraft(sessionId: string | null, draft: Draft): void {
    this.#drafts.set(sessionId, draft);
    if (sessionId === this.#sessionId) {
      this.#set(draft);
    }
  }

  /** Puts what could not be sent in front of what is typed in a session. */
  putBack(sessionId: string | null, unsent: Draft): void {
    const now =
      sessionId === this.#sessionId
        ? this.#typed()
        : (this.#drafts.get(sessionId) ?? { text: '', images: [] });
    const draft = inFront(unsent, now);
    this.setDraft(sessionId, draft);
    this.#send({ type: 'draft', sessionId, draft });
  }

  /** A session is called otherwise now. */
  superseded(sessionId: string, by: string): void {
    const draft = this.#drafts.get(sessionId);
    this.#drafts.delete(sessionId);
    if (draft) {
      this.#drafts.set(by, draft);
    }
    if (this.#view?.sessionId === sessionId) {
      this.#view = { ...this.#view, sessionId: by };
    }
  }

  focus(): void {
    this.#field.focus();
    const end = this.#field.value.length;
    this.#field.setSelectionRange(end, end);
  }

  /** Replaces the text, for the user to change and send. */
  suggest(text: string): void {
    this.#set({ text, images: this.#images.all() });
    this.focus();
    this.#tell();
  }

  submit(): void {
    const view = this.#view;
    const draft = this.#typed();
    const nothing = draft.text.trim() === '' && draft.images.length === 0;
    if (view?.starting !== null || nothing) {
      return;
    }
    if (view.sidecar !== 'running') {
      this.#held = view.sidecar === 'starting';
      this.#note(this.#held ? 'Sent in a moment: the sidecar is starting.' : null);
      return;
    }
    this.#send({ type: 'prompt', sessionId: view.sessionId, agent: this.#agent, ...draft });
    this.#completion.close();
    this.#note(null);
    this.#set({ text: '', images: [] });
    this.#tell();
  }

  cancel(): void {
    const view = this.#view;
    if (view?.starting) {
      this.#send({ type: 'cancelStart' });
    } else if (view?.running && view.sessionId) {
      this.#send({ type: 'cancel', sessionId: view.sessionId });
    }
  }

  /** Tells the extension at once what is typed. */
  #tell(): void {
    if (this.#timer) {
      clearTimeout(this.#timer);
      this.#timer = null;
    }
    const draft = this.#typed();
    this.#drafts.set(this.#sessionId, draft);
    this.#send({ type: 'draft', sessionId: this.#sessionId, draft });
  }

  get #sessionId(): string | null {
    return this.#view?.sessionId ?? null;
  }

  #typed(): Draft {
    return { text: this.#field.value, images: this.#images.all() };
  }

  #set({ text, images }: Draft): void {
    this.#field.value = text;
    this.#images.set(images);
    this.#back = 0;
    this.#edited();
  }

  #switch(from: string | null, to: string | null): void {
    const typed = this.#typed();
    this.#completion.close();
    this.#note(null);
    if (this.#timer) {
      clearTimeout(this.#timer);
      this.#timer = null;
      this.#send({ type: 'draft', sessionId: from, draft: typed });
    }
    const known = this.#drafts.get(to) ?? { text: '', images: [] };
    if (from === null && isEmpty(known) && !isEmpty(typed)) {
      // Typed while the session was made: it belongs to it.
      this.#drafts.delete(null);
      this.#send({ type: 'draft', sessionId: null, draft: known });
      this.#tell();
      return;
    }
    this.#drafts.set(from, typed);
    this.#field.value = known.text;
    this.#images.set(known.images);
    this.#back = 0;
    this.#grow();
  }

  #draw(): void {
    const view = this.#view;
    if (!view) {
      return;
    }
    const busy = view.running || view.starting !== null;
    const who = (view.sessionId ? view.agentName : (this.#agent ?? view.agentName)) ?? 'the agent';
    this.#pickers.show({
      session: view.session,
      agents: view.agents,
      agent: this.#agent ?? view.agent,
    });
    this.#field.placeholder =
      view.sidecar === 'none'
        ? 'Nobody to ask yet'
        : view.starting
          ? `Starting ${view.starting}…`
          : view.running
            ? `Waits until ${who} is done`
            : `Ask ${who}; / for commands, @ for files`;
    this.#stop.hidden = !busy;
    const stop = view.starting ? 'Do not wait for the agent' : 'Cancel the turn';
    this.#stop.title = `${stop} (${mac() ? '⌘' : 'Ctrl+'}.)`;
    this.#stop.setAttribute('aria-label', stop);
    this.#drawSubmit(view);
    const nothing = this.#field.value.trim() === '' && this.#images.all().length === 0;
    this.#submit.disabled = view.sidecar === 'none' || view.starting !== null || nothing;
    this.element.classList.toggle('running', busy);
  }

  #drawSubmit({ running }: PromptView): void {
    const label = running ? 'Queue' : 'Send';
    if (this.#submit.getAttribute('aria-label') !== label) {
      this.#submit.title = running ? 'Queue: sent when the turn is over (Enter)' : 'Send (Enter)';
      this.#submit.setAttribute('aria-label', label);
      this.#submit.replaceChildren(icon(running ? 'list-ordered' : 'arrow-up'));
    }
  }

  #edited(): void {
    this.#grow();
    this.#draw();
    this.#timer ??= setTimeout(() => this.#tell(), DRAFT_DELAY);
  }

  #grow(): void {
    this.#field.style.height = 'auto';
    this.#field.style.height = `${this.#field.scrollHeight}px`;
  }

  #ask(): void {
    this.#completion.ask(this.#sessionId);
  }

  #mention(): void {
    const { value, selectionEnd } = this.#field;
    const before = value.slice(0, selectionEnd);
    const sign = before === '' || /\s$/u.test(before) ? '@' : ' @';
    this.#field.focus();
    this.#field.setRangeText(sign, selectionEnd, selectionEnd, 'end');
    this.#edited();
    this.#ask();
  }

  #note(text: string | null): void {
    this.#say.textContent = text;
    this.#say.hidden = text === null;
  }

  #listen(): void {
    const field = this.#field;
    field.addEventListener('input', () => {
      this.#back = 0;
      this.#held = false;
      this.#note(null);
      this.#edited();
      this.#ask();
    });
    field.addEventListener('keydown', (event) => this.#key(event));
    field.addEventListener('blur', () => {
      this.#completion.close();
      if (this.#timer) {
        this.#tell();
      }
    });
    field.addEventListener('paste', (event) => {
      const files = [...(event.clipboardData?.files ?? [])];
      if (files.some((file) => file.type.startsWith('image/'))) {
        event.preventDefault();
        void this.#images.take(files);
      }
    });
    this.element.addEventListener('dragover', (event) => {
      event.preventDefault();
      this.element.classList.add('dropping');
    });
    this.element.addEventListener('dragleave', () => this.element.classList.remove('dropping'));
    this.element.addEventListener('drop', (event) => this.#drop(event));
  }

  #drop(event: DragEvent): void {
    event.preventDefault();
    this.element.classList.remove('dropping');
    const data = event.dataTransfer;
    if (!data) {
      return;
    }
    const list =
      data.getData('application/vnd.code.uri-list') || data.getData('text/uri-list') || '';
    const uris = list.split(/\r?\n/u).filter((uri) => uri !== '' && !uri.startsWith('#'));
    if (uris.length > 0) {
      this.#send({ type: 'addFiles', uris });
      this.#field.focus();
    } else {
      void this.#images.take([...data.files]);
    }
  }

  #key(event: KeyboardEvent): void {
    // With an input method Enter takes what is composed.
    if (event.isComposing) {
      return;
    }
    if (this.#completion.key(event)) {
      event.preventDefault();
      event.stopPropagation();
    } else if (event.key === 'Enter' && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      this.submit();
    } else if (event.key === 'ArrowUp' || event.key === 'ArrowDown') {
      this.#recall(event);
    }
  }

  /** In an empty prompt, or one that was brought back, the arrows go through the earlier ones. */
  #recall(event: KeyboardEvent): void {
    const sent = this.#sent();
    const fresh = this.#field.value === '' && this.#images.all().length === 0;
    const step = event.key === 'ArrowUp' ? 1 : -1;
    const back = this.#back + step;
    if ((!fresh && this.#back === 0) || back < 0 || back > sent.length) {
      return;
    }
    event.preventDefault();
    this.#set({ text: back === 0 ? '' : (sent.at(-back) ?? ''), images: this.#images.all() });
    this.#back = back;
    this.focus();
  }
}

function mac(): boolean {
  return navigator.userAgent.includes('Mac');
}
