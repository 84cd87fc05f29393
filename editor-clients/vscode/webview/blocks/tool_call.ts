import type { ToolCallBlock, ToolCallContent } from '../../src/protocol.ts';
import { element, icon, Part } from '../element.ts';
import { Markdown, pathLink } from '../markdown.ts';
import { basename, shortPath } from '../paths.ts';
import { visible } from '../visible.ts';
import { attachment } from './content.ts';
import type { BlockContext, BlockView } from './context.ts';
import { diffOf } from './diff.ts';
import { clamped, disclosure, jsonFold } from './fold.ts';
import { cut } from './message.ts';
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
    return `${visible(block.title)}: ${status(block)[1]}`;
  }

  update(block: ToolCallBlock): void {
    this.#block = block;
    const { title, name, toolKind, status: state, closedBy } = block;
    const { background, locations, capabilities } = block;
    this.#title.show([ICONS[toolKind] ?? 'tools', visible(title || (name ?? 'Tool call'))]);
    this.#beside.show({ title, state, closedBy, background, locations, capabilities });
    this.#card.dataset.status = block.status;
    this.#card.classList.toggle('bare', !hasBody(block));
    this.#disclosure.preset(worthSeeing(block));
    this.#body?.show(block);
  }

  #besides(): Node[] {
    const block = this.#block;
    const [symbol, label] = status(block);
    const cancel = this.#cancelButton(block);
    const said = closing(block, label);
    const places = block.locations
      .slice(0, 3)
      .filter((it) => !block.title.includes(basename(it.path)));
    return [
      element(
        'span',
        { class: 'tool-places' },
        ...places.map((it) => {
          const shown = shortPath(it.path, this.#context.cwd);
          const text = it.line === null ? shown : `${shown}:${it.line}`;
          return pathLink(text, it, this.#context);
        }),
      ),
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
    const over = !['pending', 'in_progress'].includes(block.status);
    if (!block.capabilities?.cancel || over || sessionId === null) {
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

function hasBody(block: ToolCallBlock): boolean {
  return (
    block.content.length > 0 ||
    block.locations.length > 0 ||
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
    const places = block.locations.map((it) =>
      pathLink(
        shortPath(it.path, this.#context.cwd) + (it.line === null ? '' : `:${it.line}`),
        it,
        this.#context,
      ),
    );
    const diffs = block.content.some((it) => it.type === 'diff');
    return [
      cut(block),
      block.command !== null && !ownCommand(block)
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
    const markdown = new Markdown(context);
    const box = element('div', { class: 'tool-text' });
    const show = (it: ToolCallContent) => {
      if (it.type === 'content' && it.content.type === 'text') {
        markdown.show(it.content.text);
        const lines = it.content.text.split('\n').length;
        const key = `text:${index}`;
        if (box.dataset.lines !== String(lines)) {
          box.dataset.lines = String(lines);
          box.replaceChildren(clamped(context, key, markdown.element, lines, 16));
        }
      }
    };
    return { type: content.type, element: box, show };
  }
  const part = new Part(element('div'), (it: ToolCallContent) => drawn(it, index, block, context));
  return { type: content.type, element: part.element, show: (it) => part.show(it) };
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
