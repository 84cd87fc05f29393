import type { Terminal } from '../../src/protocol.ts';
import { element, icon, Part } from '../element.ts';
import { copyButton } from '../markdown.ts';
import { visibleLines } from '../visible.ts';
import type { BlockContext } from './context.ts';
import { Output } from './output.ts';

/** A command in full: what it would do must be readable whole. */
export function commandLine(
  command: string,
  cwd: string | null,
  context: BlockContext,
): HTMLElement {
  const elsewhere = cwd !== null && cwd !== context.cwd;
  return element(
    'div',
    { class: 'command' },
    element(
      'div',
      { class: 'command-line' },
      element('span', { class: 'prompt-sign', 'aria-hidden': 'true', text: '$' }),
      element('code', { text: visibleLines(command) }),
      copyButton(() => command, context),
    ),
    elsewhere
      ? element(
          'div',
          { class: 'command-folder' },
          'in ',
          element('code', { text: visibleLines(cwd) }),
        )
      : null,
  );
}

/** A command that runs or ran, the end of its output, and how it ended. */
export class TerminalView {
  readonly element: HTMLElement;
  readonly #id: string;
  readonly #context: BlockContext;
  readonly #output = new Output();
  readonly #command: Part<{ command: string | null; cwd: string | null }>;
  readonly #state: Part<{ exit: Terminal['exitStatus']; known: boolean; truncated: boolean }>;

  constructor(id: string, context: BlockContext) {
    this.#id = id;
    this.#context = context;
    this.#command = new Part(element('div'), ({ command, cwd }) => [
      command === null ? null : commandLine(command, cwd, context),
    ]);
    this.#state = new Part(element('div', { class: 'terminal-foot' }), (it) => this.#foot(it));
    this.element = element(
      'div',
      { class: 'terminal' },
      this.#command.element,
      this.#output.element,
      this.#state.element,
    );
  }

  show(terminal: Terminal | null, command: boolean): void {
    this.#command.show({
      command: command ? (terminal?.command ?? null) : null,
      cwd: terminal?.cwd ?? null,
    });
    this.#state.show({
      exit: terminal?.exitStatus ?? null,
      known: terminal !== null,
      truncated: terminal?.truncated ?? false,
    });
    this.#output.write(terminal?.output ?? '');
  }

  /** Called when it is in the page: its end is what is new. */
  toEnd(): void {
    this.#output.toEnd();
  }

  #foot(it: { exit: Terminal['exitStatus']; known: boolean; truncated: boolean }): Node[] {
    const { sessionId } = this.#context;
    const buttons: Node[] = [];
    if (sessionId !== null && it.known) {
      buttons.push(
        this.#button('open', 'terminal', 'Open', () =>
          this.#context.send({ type: 'openTerminal', sessionId, terminalId: this.#id }),
        ),
      );
      if (it.exit === null) {
        buttons.push(
          this.#button('kill', 'debug-stop', 'Kill', () =>
            this.#context.send({ type: 'killTerminal', sessionId, terminalId: this.#id }),
          ),
        );
      }
    }
    return [
      element('span', { class: `exit ${exitClass(it)}` }, ...exitText(it)),
      it.truncated ? element('span', { class: 'muted', text: 'earlier output left out' }) : '',
      element('span', { class: 'gap' }),
      ...buttons,
    ].filter((node): node is HTMLElement => node !== '');
  }

  #button(key: string, symbol: string, label: string, press: () => void): HTMLElement {
    const button = element('button', { type: 'button', class: 'small-button', 'data-key': key });
    button.append(icon(symbol), label);
    button.addEventListener('click', press);
    return button;
  }
}

function exitClass(it: { exit: Terminal['exitStatus'] }): string {
  if (it.exit === null) {
    return 'running';
  }
  const { exitCode, signal } = it.exit;
  return exitCode === null && signal === null ? '' : exitCode === 0 ? 'good' : 'bad';
}

function exitText(it: { exit: Terminal['exitStatus']; known: boolean }): (Node | string)[] {
  if (it.exit === null) {
    return it.known ? [icon('loading'), 'running'] : ['Nothing is known of this command'];
  }
  const { exitCode, signal } = it.exit;
  if (exitCode === null && signal === null) {
    // Some agents say only that it has ended.
    return [icon('circle-slash'), 'ended'];
  }
  if (exitCode === 0) {
    return [icon('check'), 'exit 0'];
  }
  return [
    icon('error'),
    signal === null ? `exit ${String(exitCode)}` : `ended by ${visibleLines(signal)}`,
  ];
}
