import { type CancellationToken, window } from 'vscode';

import type { Question } from '../protocol.ts';
import type { Sidecar } from '../sidecar.ts';
import { visibleLines } from '../visible.ts';
import { Requests } from './requests.ts';

interface MessageRequest {
  message: string;
  actions?: { title: string }[];
}

/**
 * The questions that wait for the user: what agents ask permission for, and what the sidecar
 * asks itself. Closing what shows a question is no answer to it.
 */
export class Questions extends Requests<Question, { optionId: string | null }> {
  #messages = 0;

  /** Before the sidecar's first start. */
  constructor(sidecar: Sidecar) {
    super(sidecar, 'acp/permission');
    sidecar.onRequest<MessageRequest, unknown>('window/showMessageRequest', (request, token) =>
      this.#message(request, token),
    );
  }

  /**
   * Answers with one of the question's options.
   *
   * @returns whether the question is settled by it: it offers that, and waited.
   */
  answer(requestId: string, optionId: string): boolean {
    const offered = this.get(requestId)?.options.some((option) => option.optionId === optionId);
    return offered === true && this.settle(requestId, { optionId });
  }

  /** The user gives no answer; the sidecar makes of it what approves nothing. */
  refuse(requestId: string): boolean {
    return this.settle(requestId, { optionId: null });
  }

  /**
   * `window/showMessageRequest`. VS Code's own handler closes one of two equal dialogs, keeps
   * what was cancelled on the screen, and leaves a message without a button pending for ever.
   */
  async #message({ message, actions = [] }: MessageRequest, token: CancellationToken) {
    if (actions.length === 0) {
      void window.showInformationMessage(visibleLines(message).join('\n'));
      return null;
    }
    this.#messages += 1;
    const answer = await this.wait(asked(`message-${this.#messages}`, message, actions), token);
    return actions.find(({ title }) => title === answer?.optionId) ?? null;
  }
}

function asked(requestId: string, message: string, actions: { title: string }[]): Question {
  const [headline = '', ...lines] = visibleLines(message);
  return {
    requestId,
    sessionId: null,
    agent: 'ACP',
    toolCallId: null,
    kind: 'other',
    headline,
    short: headline,
    facts: lines.map((text) => ({ kind: 'text', text, value: null, note: '' })),
    message,
    title: null,
    description: null,
    command: null,
    cwd: null,
    paths: [],
    locations: [],
    rawInput: null,
    diffs: [],
    options: actions.map(({ title }) => ({ optionId: title, name: title, kind: null, title })),
    refusable: true,
    state: 'waiting',
    optionId: null,
  };
}
