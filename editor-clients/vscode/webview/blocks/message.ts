import type { ContentBlock, MessageBlock } from '../../src/protocol.ts';
import { shortened } from '../../src/visible.ts';
import { element, icon, Part } from '../element.ts';
import { Markdown } from '../markdown.ts';
import { visible } from '../visible.ts';
import { attachment } from './content.ts';
import type { BlockContext, BlockView } from './context.ts';
import { clamped, fold } from './fold.ts';

const MOST_USER_LINES = 16;

/** What somebody said: the user, the agent, or the agent to itself. */
export function messageView(block: MessageBlock, context: BlockContext): BlockView<MessageBlock> {
  switch (block.role) {
    case 'user':
      return userMessage(block, context);
    case 'thought':
      return thought(block, context);
    default:
      return agentMessage(block, context);
  }
}

/** The text of a message without what is attached to it. */
export function messageText(block: MessageBlock): string {
  return block.content.map((it) => (it.type === 'text' ? it.text : '')).join('');
}

function userMessage(block: MessageBlock, context: BlockContext): BlockView<MessageBlock> {
  const bubble = new Part(element('div', { class: 'bubble' }), (it: MessageBlock) => {
    const text = messageText(it);
    const lines = text
      .split('\n')
      .reduce((sum, line) => sum + Math.ceil((line.length + 1) / 80), 0);
    const words = element('div', { class: 'words', dir: 'auto', text });
    return [
      text === '' ? null : clamped(context, 'all', words, lines, MOST_USER_LINES),
      attachments(it.content, context),
      cut(it),
    ];
  });
  bubble.show(block);
  return {
    nodes: [bubble.element],
    label: (it) => `You: ${beginning(messageText(it))}`,
    update: (it) => bubble.show(it),
  };
}

function agentMessage(block: MessageBlock, context: BlockContext): BlockView<MessageBlock> {
  const body = new Body(block, context);
  return {
    nodes: body.nodes,
    label: (it) => `${context.agent}: ${beginning(messageText(it))}`,
    update: (it) => body.show(it),
  };
}

function thought(block: MessageBlock, context: BlockContext): BlockView<MessageBlock> {
  let current = block;
  let body: Body | null = null;
  const first = element('span', { class: 'thought-line' });
  const head = [
    icon('chevron-right'),
    element('span', { class: 'thought-title', text: 'Thought' }),
    first,
  ];
  const { element: details } = fold(context, 'thought', head, (place) => {
    body = new Body(current, context);
    place.append(...body.nodes);
  });
  details.classList.add('thought');
  const update = (it: MessageBlock) => {
    current = it;
    first.textContent = beginning(messageText(it).replace(/[*_`#]+/gu, ''));
    body?.show(it);
  };
  update(block);
  return { nodes: [details], label: (it) => `Thought: ${beginning(messageText(it))}`, update };
}

/** Markdown, and below it what is attached. */
class Body {
  readonly nodes: Node[];
  readonly #markdown: Markdown;
  readonly #rest: Part<MessageBlock>;
  readonly #cut: Part<boolean>;

  constructor(block: MessageBlock, context: BlockContext) {
    this.#markdown = new Markdown(context);
    this.#rest = new Part(element('div'), (it: MessageBlock) => [attachments(it.content, context)]);
    this.#cut = new Part(element('div'), (truncated: boolean) => [cut({ truncated })]);
    this.nodes = [this.#cut.element, this.#markdown.element, this.#rest.element];
    this.show(block);
  }

  show(block: MessageBlock): void {
    this.#cut.show(block.truncated === true);
    this.#markdown.show(messageText(block));
    this.#rest.show({ ...block, content: block.content.filter((it) => it.type !== 'text') });
  }
}

function attachments(content: ContentBlock[], context: BlockContext): HTMLElement | null {
  const all = content.flatMap((it, index) =>
    it.type === 'text' ? [] : [attachment(it, `attachment:${index}`, context)],
  );
  return all.length === 0 ? null : element('div', { class: 'attachments' }, ...all);
}

/** Says that a block holds only the end of something long. */
export function cut(block: { truncated?: boolean }): HTMLElement | null {
  return block.truncated
    ? element(
        'p',
        { class: 'cut' },
        icon('fold-up'),
        'The beginning is left out: it is too long to show',
      )
    : null;
}

/** The first words of a text, in one line. */
export function beginning(text: string, most = 120): string {
  const line = text.trimStart().split('\n')[0]?.trim() ?? '';
  return visible(shortened(line, most));
}
