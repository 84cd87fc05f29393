import { commands, env, Uri, window, workspace } from 'vscode';

import { showError } from '../failure.ts';
import type { Completion, ContentBlock } from '../protocol.ts';
import type { Session } from '../sessions/sessions.ts';
import { inTurn } from '../sessions/status.ts';
import { mention } from './mention.ts';
import type { Draft, FromChat, ToChat } from './messages.ts';
import type { Opening } from './opening.ts';
import type { ChatParts } from './sources.ts';
import type { Starting } from './starting.ts';

/** What the actions need of the view. */
export interface Chat {
  post(message: ToChat): void;
  /** Puts what could not be sent back into the prompt, in front of what is typed. */
  putBack(session: Session | null, unsent: Draft): void;
  /** The session that is called so, or was when the page said it. */
  session(sessionId: string): Session | null;
  /** Keeps what is typed. */
  keep(session: Session | null, draft: Draft): void;
}

/** Does what the user asks for in the chat. */
export class Actions {
  readonly #parts: ChatParts;
  readonly #starting: Starting;
  readonly #opening: Opening;
  readonly #chat: Chat;

  constructor(parts: ChatParts, starting: Starting, opening: Opening, chat: Chat) {
    this.#parts = parts;
    this.#starting = starting;
    this.#opening = opening;
    this.#chat = chat;
  }

  /** A failure is shown: its message is made for the user. */
  async run(message: FromChat): Promise<void> {
    try {
      await this.#do(message);
    } catch (error) {
      await showError(error);
    }
  }

  async #do(message: FromChat): Promise<unknown> {
    const { sidecar, sessions, questions, forms, terminals } = this.#parts;
    switch (message.type) {
      case 'ready':
      case 'focus':
        return undefined;
      case 'prompt':
        return this.#prompt(message);
      case 'cancel':
        return sidecar.command('acp.session.cancel', { sessionId: message.sessionId });
      case 'editQueued': {
        const { sessionId, turnId, text } = message;
        return sidecar.command('acp.session.queue', { sessionId, edit: { turnId, text } });
      }
      case 'dropQueued': {
        const { sessionId, turnId } = message;
        return sidecar.command('acp.session.queue', { sessionId, drop: turnId });
      }
      case 'setMode': {
        const { sessionId, modeId } = message;
        return sidecar.command('acp.session.setMode', { sessionId, modeId });
      }
      case 'setConfigOption': {
        const { sessionId, configId, value } = message;
        return sidecar.command('acp.session.setConfigOption', { sessionId, configId, value });
      }
      case 'answer':
        return message.optionId === null
          ? questions.refuse(message.requestId)
          : questions.answer(message.requestId, message.optionId);
      case 'answerForm':
        return forms.answer(message.requestId, message.answer);
      case 'previewQuestion':
        return this.#preview(message.requestId);
      case 'openPath':
        return this.#with(message, (it) => this.#opening.path(it, message.path, message.line));
      case 'openDiff':
        return this.#with(message, (it) =>
          this.#opening.diff(it, message.toolCallId, message.index),
        );
      case 'openLink':
        // VS Code asks whether the user trusts it.
        return env.openExternal(Uri.parse(message.href));
      case 'copy':
        return env.clipboard.writeText(message.text);
      case 'complete':
        return this.#complete(message);
      case 'openTerminal':
        return terminals.open(message.sessionId, message.terminalId);
      case 'killTerminal':
        return terminals.kill(message.sessionId, message.terminalId);
      case 'cancelToolCall': {
        const { sessionId, toolCallId } = message;
        return sidecar.command('acp.toolCall.cancel', { sessionId, toolCallId });
      }
      case 'newSession':
        await this.#starting.start(message.agent);
        this.#chat.post({ type: 'focusPrompt' });
        return undefined;
      case 'cancelStart':
        this.#starting.cancel();
        return undefined;
      case 'selectSession':
        sessions.select(message.sessionId);
        return undefined;
      case 'closeSession':
        return this.#with(message, (session) => this.close(session));
      case 'wake':
        return this.#with(message, async (session) => {
          await sessions.awake(session);
        });
      case 'showHistory':
        return commands.executeCommand('acp.showHistory');
      case 'openChanges':
        return commands.executeCommand('acp.openChanges', message.sessionId);
      case 'toggleFollow':
        return commands.executeCommand('acp.toggleFollow');
      case 'addFiles':
        return this.#addFiles(message.uris);
      case 'draft':
        this.#keep(message.sessionId, message.draft);
        return undefined;
      case 'run':
        return commands.executeCommand(message.command);
    }
  }

  /** Closes a session; asks where its agent is at work. */
  async close(session: Session): Promise<void> {
    if (inTurn(session.status?.status)) {
      const close = 'Close the Session';
      const chosen = await window.showWarningMessage(
        `${session.agent} is at work in this session.`,
        { modal: true, detail: 'Closing it ends the turn. What it has changed so far stays.' },
        close,
      );
      if (chosen !== close) {
        return;
      }
    }
    await this.#parts.sessions.close(session.sessionId);
  }

  async #prompt(message: FromChat & { type: 'prompt' }): Promise<void> {
    const { sidecar, sessions } = this.#parts;
    const unsent: Draft = { text: message.text, images: message.images };
    let session = this.#session(message.sessionId);
    try {
      session ??= await this.#starting.start(message.agent);
      if (session === null) {
        this.#chat.putBack(null, unsent);
        return;
      }
      session = await sessions.awake(session);
      sessions.select(session.sessionId);
      const content: ContentBlock[] = message.images.map((image) => ({ type: 'image', ...image }));
      await sidecar.command('acp.session.prompt', {
        sessionId: session.sessionId,
        text: message.text,
        content,
        wait: false,
      });
    } catch (error) {
      this.#chat.putBack(session, unsent);
      throw error;
    }
  }

  async #complete(message: FromChat & { type: 'complete' }): Promise<void> {
    const { id, text, cursor } = message;
    const session = this.#session(message.sessionId);
    const { workspaceFolders } = workspace;
    const of =
      session && !session.asleep
        ? { sessionId: session.sessionId }
        : { cwd: session?.cwd ?? workspaceFolders?.[0]?.uri.fsPath };
    const items = await this.#parts.sidecar
      .command<{ items: Completion[] }>('acp.prompt.complete', { ...of, text, cursor })
      .then(
        (answer) => answer.items,
        (error: unknown) => {
          this.#parts.log.debug(`No completion: ${String(error)}`);
          return [];
        },
      );
    this.#chat.post({ type: 'completions', id, items });
  }

  #preview(requestId: string): unknown {
    const question = this.#parts.questions.get(requestId);
    return question && this.#parts.preview.open(question);
  }

  async #addFiles(uris: string[]): Promise<void> {
    const files = uris
      .map((uri) => Uri.parse(uri))
      .filter((uri) => uri.scheme === 'file' || uri.scheme === 'vscode-remote')
      // Where the sidecar runs, a file of the remote is one of its disk.
      .map((uri) => Uri.file(uri.fsPath));
    if (files.length > 0) {
      this.#chat.post({ type: 'insert', text: await mention(this.#parts, files) });
    }
  }

  #keep(sessionId: string | null, draft: Draft): void {
    const session = this.#session(sessionId);
    if (session !== null || sessionId === null) {
      this.#chat.keep(session, draft);
    }
  }

  #session(sessionId: string | null): Session | null {
    return sessionId === null ? null : this.#chat.session(sessionId);
  }

  async #with(
    { sessionId }: { sessionId: string },
    act: (session: Session) => Promise<void>,
  ): Promise<void> {
    const session = this.#session(sessionId);
    if (session) {
      await act(session);
    }
  }
}
