import type { Location, ToolCallBlock, ToolCallContent } from '../../src/protocol.ts';
import { element, icon, Part } from '../element.ts';
import { Markdown, pathLink } from '../markdown.ts';
import { basename, isFolder, shortPath, shortTitle } from '../paths.ts';
import { visible } from '../visible.ts';
import { attachment } from './content.ts';
import type { BlockContext, BlockView } from './context.ts';
import { diffOf } from './diff.ts';
import { clamped, disclosure, jsonFold } from './fold.ts';
import { cut } from './message.ts';
import { Output } from './output.ts';
import { commandLine, TerminalView } from './terminal.ts';

const ICONS: Record<string, string> = {
  read: 'file',
  edit: 'edit',
  delete: 'trash',
  move: 'file-symlink-file',
  search: 'search',
  execute: 'terminal',
  think: 'lightbulb',
  fetch: 'globe',
  switch_mode: 'arrow-swap',
};

const STATUSES: Record<string, [symbol: string, label: string]> = {
  pending: ['circle-large-outline', 'waiting'],
  in_progress: ['loading', 'running'],
  completed: ['check', 'done'],
  failed: ['error', 'failed'],
  cancelled: ['circle-slash', 'cancelled'],
};

/** Something the agent does, in its own words, with what comes of it. */
export function toolCallView(
  block: ToolCallBlock,
  context: BlockContext,
): BlockView<ToolCallBlock> {
  return new ToolCallView(block, context);
}

class ToolCallView implements BlockView<ToolCallBlock> {
  readonly nodes: Node[];
  readonly #context: BlockContext;
  readonly #title: Part<string[]>;
  readonly #beside: Part<unknown>;
  readonly #disclosure: ReturnType<typeof disclosure>;
  readonly #card: HTMLElement;
  #block: ToolCallBlock;
  #body: Body | null = null;

  constructor(block: ToolCallBlock, context: BlockContext) {
    this.#block = block;
    this.#context = context;
    this.#disclosure = disclosure(context, 'tool', (place) => {
      this.#body = new Body(place, this.#context);
      this.#body.show(this.#block);
    });
    const { row, body, button } = this.#disclosure;
    this.#title = new Part(button, ([symbol = '', title = '']) => [
      icon(symbol),
      element('span', { class: 'tool-title', text: title }),
    ]);
    this.#beside = new Part(element('span', { class: 'tool-beside' }), () => this.#besides());
    row.append(button, this.#beside.element);
    this.#card = element('div', { class: 'tool' }, row, body);
    this.nodes = [this.#card];
    this.update(block);
  }

  label(block: ToolCallBlock): string {
    return `${titleOf(block, this.#context.cwd)}: ${status(block)[1]}`;
  }

  update(block: ToolCallBlock): void {
    this.#block = block;
    const { status: state, closedBy, background, locations, cancellable } = block;
    const title = titleOf(block, this.#context.cwd);
    this.#title.show([ICONS[block.toolKind] ?? 'tools', title]);
    this.#title.element.classList.toggle('command-title', isCommand(block));
    this.#beside.show({ title, state, closedBy, background, locations, cancellable });
    this.#card.dataset.status = block.status;
    this.#card.classList.toggle('bare', !hasBody(block, this.#context.cwd));
    this.#disclosure.preset(worthSeeing(block));
    this.#body?.show(block);
  }

  #besides(): Node[] {
    const block = this.#block;
    const [symbol, label] = status(block);
    const cancel = this.#cancelButton(block);
    const said = closing(block, label);
    const { beside } = placesOf(block, this.#context.cwd);
    return [
      element('span', { class: 'tool-places' }, ...beside.map((it) => link(it, this.#context))),
      ...(block.background ? [element('span', { class: 'badge', text: 'background' })] : []),
      ...(cancel ? [cancel] : []),
      element(
        'span',
        { class: 'tool-status', title: said, role: 'img', 'aria-label': said },
        icon(symbol),
      ),
    ];
  }

  #cancelButton(block: ToolCallBlock): HTMLElement | null {
    const { sessionId } = this.#context;
    if (!block.cancellable || sessionId === null) {
      return null;
    }
    const button = element('button', {
      type: 'button',
      class: 'small-button',
      'data-key': 'cancel',
      text: 'Cancel',
    });
    button.addEventListener('click', () =>
      this.#context.send({ type: 'cancelToolCall', sessionId, toolCallId: block.toolCallId }),
    );
    return button;
  }
}

function status(block: ToolCallBlock): [string, string] {
  return STATUSES[block.status] ?? ['question', visible(block.status)];
}

function closing(block: ToolCallBlock, label: string): string {
  return block.closedBy === 'sidecar' ? `${label}: the agent left it open` : label;
}

/** What it is called, in one line: as the agent calls it, with the paths short. */
function titleOf(block: ToolCallBlock, cwd: string | null): string {
  const title = block.title === '' ? null : block.title;
  const said = title ?? block.name ?? 'Tool call';
  // Of a command no character is left out, but what is below the first line is shown below.
  return block.toolKind === 'execute'
    ? visible(said.trim().replace(/\n.*/su, ' …'))
    : visible(shortTitle(said, cwd));
}

/** Whether the title is the whole command. */
function isCommand({ title, command }: ToolCallBlock): boolean {
  return command !== null && title?.trim() === command.trim() && !command.trim().includes('\n');
}

/**
 * Where it works: what stands beside the title, and what is left for below it. That it works in
 * the session's folder says nothing.
 */
function placesOf(
  block: ToolCallBlock,
  cwd: string | null,
): { beside: Location[]; rest: Location[] } {
  const all = block.locations.filter((it) => !isFolder(it.path, cwd));
  const beside = all.slice(0, 3).filter((it) => !block.title?.includes(basename(it.path)));
  return { beside, rest: all.filter((it) => !beside.includes(it)) };
}

function link(it: Location, context: BlockContext): HTMLElement {
  const shown = shortPath(it.path, context.cwd);
  return pathLink(it.line === null ? shown : `${shown}:${it.line}`, it, context);
}

function hasBody(block: ToolCallBlock, cwd: string | null): boolean {
  return (
    block.content.length > 0 ||
    placesOf(block, cwd).rest.length > 0 ||
    (block.rawInput ?? null) !== null ||
    (block.rawOutput ?? null) !== null
  );
}

/** What changes files, runs, or went wrong is shown; the rest is a line to open. */
function worthSeeing(block: ToolCallBlock): boolean {
  return (
    block.status === 'failed' ||
    block.toolKind === 'execute' ||
    block.content.some((it) => it.type === 'diff' || it.type === 'terminal')
  );
}

/** What is behind the line of a tool call; each part is drawn anew only where it changed. */
class Body {
  readonly #context: BlockContext;
  readonly #top: Part<unknown>;
  readonly #items = element('div', { class: 'tool-items' });
  readonly #raw: Part<unknown>;
  readonly #views: Item[] = [];
  #block: ToolCallBlock | null = null;

  constructor(place: HTMLElement, context: BlockContext) {
    this.#context = context;
    this.#top = new Part(element('div'), () => this.#above());
    this.#raw = new Part(element('div', { class: 'raw' }), () => this.#below());
    place.append(this.#top.element, this.#items, this.#raw.element);
  }

  show(block: ToolCallBlock): void {
    this.#block = block;
    this.#top.show([block.locations, block.command, block.truncated, ownCommand(block)]);
    block.content.forEach((content, index) => {
      const view = this.#views[index];
      if (view?.type === content.type) {
        view.show(content, block);
        return;
      }
      const made = item(content, index, block, this.#context);
      if (view) {
        view.element.replaceWith(made.element);
      } else {
        this.#items.append(made.element);
      }
      this.#views[index] = made;
      made.show(content, block);
    });
    for (const gone of this.#views.splice(block.content.length)) {
      gone.element.remove();
    }
    this.#raw.show([block.rawInput, block.rawOutput]);
  }

  #above(): (Node | null)[] {
    const block = this.#block;
    if (!block) {
      return [];
    }
    const { rest } = placesOf(block, this.#context.cwd);
    const places = rest.map((it) => link(it, this.#context));
    const diffs = block.content.some((it) => it.type === 'diff');
    return [
      cut(block),
      block.command !== null && !ownCommand(block) && !isCommand(block)
        ? commandLine(block.command, null, this.#context)
        : null,
      places.length > 0 && !diffs ? element('div', { class: 'places' }, ...places) : null,
    ];
  }

  #below(): Node[] {
    const named = [
      ['Input', this.#block?.rawInput ?? null],
      ['Output', this.#block?.rawOutput ?? null],
    ] as const;
    return named
      .filter(([, value]) => value !== null)
      .map(([name, value]) => jsonFold(this.#context, name, value));
  }
}

/** Whether one of its terminals shows the command. */
function ownCommand(block: ToolCallBlock): boolean {
  return block.content.some(
    (it) => it.type === 'terminal' && (it.terminal?.command ?? null) !== null,
  );
}

interface Item {
  type: string;
  element: HTMLElement;
  show: (content: ToolCallContent, block: ToolCallBlock) => void;
}

function item(
  content: ToolCallContent,
  index: number,
  block: ToolCallBlock,
  context: BlockContext,
): Item {
  if (content.type === 'terminal') {
    const view = new TerminalView(content.terminalId, context);
    requestAnimationFrame(() => view.toEnd());
    const show = (it: ToolCallContent) => {
      if (it.type === 'terminal') {
        view.show(context.terminal(it.terminalId) ?? it.terminal ?? null, true);
      }
    };
    return { type: content.type, element: view.element, show };
  }
  if (content.type === 'content' && content.content.type === 'text') {
    const text = new Words(`text:${index}`, context);
    const show = (it: ToolCallContent, of: ToolCallBlock) => {
      if (it.type === 'content' && it.content.type === 'text') {
        text.show(it.content.text, of.toolKind);
      }
    };
    return { type: content.type, element: text.element, show };
  }
  const part = new Part(element('div'), (it: ToolCallContent) => drawn(it, index, block, context));
  return { type: content.type, element: part.element, show: (it) => part.show(it) };
}

/** Of a longer text the first lines are shown. */
const MOST_LINES = 16;

/** What comes of these is text as it was found, unless the agent says by a fence what it is. */
const FOUND = new Set(['read', 'search', 'execute']);

/** Text of a tool call: Markdown, or what a command wrote and what stands in a file. */
class Words {
  readonly element = element('div', { class: 'tool-text' });
  readonly #name: string;
  readonly #context: BlockContext;
  readonly #markdown: Markdown;
  readonly #output = new Output();
  #shown = '';

  constructor(name: string, context: BlockContext) {
    this.#name = name;
    this.#context = context;
    this.#markdown = new Markdown(context);
  }

  show(text: string, toolKind: string): void {
    const found = FOUND.has(toolKind) && !/^ {0,3}(?:```|~~~)/mu.test(text);
    const lines = text.split('\n').length;
    if (found) {
      this.#output.write(text);
    } else {
      this.#markdown.show(text);
    }
    const shown = `${found}:${toolKind}:${lines > MOST_LINES ? lines : ''}`;
    if (shown !== this.#shown) {
      this.#shown = shown;
      const content = found ? this.#output.element : this.#markdown.element;
      // Of a command the end is what is new: it scrolls.
      this.element.replaceChildren(
        found && toolKind === 'execute'
          ? content
          : clamped(this.#context, this.#name, content, lines, MOST_LINES),
      );
      this.#output.toEnd();
    }
  }
}

function drawn(
  content: ToolCallContent,
  index: number,
  block: ToolCallBlock,
  context: BlockContext,
): Node[] {
  const { sessionId } = context;
  if (content.type === 'diff') {
    return diffOf(content, index, block.locations, context, () => {
      if (sessionId !== null) {
        context.send({ type: 'openDiff', sessionId, toolCallId: block.toolCallId, index });
      }
    });
  }
  if (content.type === 'content' && content.content.type !== 'text') {
    return [attachment(content.content, `content:${index}`, context)];
  }
  return [];
}
