import type { PermissionBlock, Question } from '../../src/protocol.ts';
import { element, icon, Part } from '../element.ts';
import { pathLink } from '../markdown.ts';
import { shortPath } from '../paths.ts';
import { visible, visibleLines } from '../visible.ts';
import type { BlockContext, BlockView } from './context.ts';
import { questionDiff } from './diff.ts';
import { jsonFold } from './fold.ts';
import { Guard, TOO_SOON } from './guard.ts';
import { commandLine } from './terminal.ts';

const ICONS: Record<string, string> = {
  allow_once: 'check',
  allow_always: 'check-all',
  reject_once: 'close',
  reject_always: 'circle-slash',
};

/** A question of the agent's, with everything that is known of what it would do. */
export function permissionView(
  block: PermissionBlock,
  context: BlockContext,
): BlockView<PermissionBlock> {
  return new PermissionView(block, context);
}

class PermissionView implements BlockView<PermissionBlock> {
  readonly nodes: Node[];
  readonly #context: BlockContext;
  readonly #card: Part<unknown>;
  readonly #said = element('div', { class: 'guard-note' });
  #block: PermissionBlock;
  #pressed = false;
  #waits = 0;

  constructor(block: PermissionBlock, context: BlockContext) {
    this.#context = context;
    this.#block = block;
    this.#card = new Part(element('div', { class: 'card question', 'data-card': 'question' }), () =>
      this.#draw(),
    );
    this.nodes = [this.#card.element];
    this.update(block);
  }

  label(block: PermissionBlock): string {
    const question = this.#context.question(block.requestId);
    return `Question: ${(question?.message ?? block.message).replaceAll('\n', '. ')}`;
  }

  update(block: PermissionBlock): void {
    this.#block = block;
    if (block.state !== 'waiting') {
      this.#pressed = false;
    }
    const question = this.#context.question(block.requestId);
    this.#card.element.dataset.state = block.state;
    this.#card.show([block, question, this.#pressed]);
  }

  #draw(): (Node | null)[] {
    const question = this.#context.question(this.#block.requestId);
    if (this.#block.state !== 'waiting') {
      return this.#over();
    }
    const said = question ? lines(question, this.#context.cwd) : [];
    return [
      element(
        'div',
        { class: 'question-head' },
        icon('question'),
        element('div', { class: 'question-title', text: visible(this.#block.headline) }),
      ),
      said.length > 0
        ? element('div', {
            class: 'question-message',
            text: visibleLines(said.join('\n')),
          })
        : null,
      ...(question ? this.#facts(question) : []),
      this.#buttons(question),
      this.#said,
    ];
  }

  #facts(question: Question): (Node | null)[] {
    const context = this.#context;
    const shown = question.diffs.map((it) => it.path);
    const places = [
      ...question.locations,
      ...question.paths
        .filter((path) => !question.locations.some((it) => it.path === path))
        .map((path) => ({ path, line: null })),
    ].filter((it) => !shown.includes(it.path));
    const description = question.description ?? this.#block.description;
    return [
      description
        ? element('div', { class: 'question-description', text: visibleLines(description) })
        : null,
      question.command === null ? null : commandLine(question.command, question.cwd, context),
      places.length === 0
        ? null
        : element(
            'div',
            { class: 'places' },
            ...places.map((it) =>
              pathLink(
                shortPath(it.path, context.cwd) + (it.line === null ? '' : `:${it.line}`),
                it,
                context,
              ),
            ),
          ),
      ...question.diffs.map((it, index) => questionDiff(it, index, context)),
      (question.rawInput ?? null) === null ? null : jsonFold(context, 'Input', question.rawInput),
    ];
  }

  #buttons(question: Question | null): HTMLElement {
    const { requestId } = this.#block;
    const guard = new Guard(
      () => this.#context.movedAt(),
      () => this.#refused(),
    );
    const options = question?.options ?? [];
    const row = element('div', { class: 'answers', role: 'group', 'aria-label': 'Answers' });
    const answer = (key: string, optionId: string | null, symbol: string, title: string) => {
      const button = element('button', {
        type: 'button',
        class: 'answer',
        'data-key': key,
        disabled: this.#pressed,
      });
      button.append(icon(symbol), title);
      guard.watch(button, () => {
        this.#pressed = true;
        this.#context.send({ type: 'answer', requestId, optionId });
        this.update(this.#block);
      });
      row.append(button);
    };
    for (const { optionId, kind, title } of options) {
      answer(`option:${optionId}`, optionId, ICONS[kind ?? ''] ?? 'circle-small', visible(title));
    }
    if (question?.refusable === true) {
      answer('no-answer', null, 'circle-slash', 'Give no answer');
    }
    if (question && question.diffs.length > 0) {
      const preview = element('button', {
        type: 'button',
        class: 'small-button',
        'data-key': 'preview',
      });
      preview.append(icon('diff'), 'Show in the editor');
      preview.addEventListener('click', () =>
        this.#context.send({ type: 'previewQuestion', requestId }),
      );
      row.append(element('span', { class: 'gap' }), preview);
    }
    if (!question) {
      row.append(element('span', { class: 'muted', text: 'The answers are on their way…' }));
    }
    return row;
  }

  #refused(): void {
    this.#said.textContent = TOO_SOON;
    this.#context.announce(this.#said.textContent);
    clearTimeout(this.#waits);
    this.#waits = window.setTimeout(() => this.#said.replaceChildren(), 4000);
  }

  #over(): Node[] {
    const { state, optionId, options, headline } = this.#block;
    const chosen = options.find((it) => it.optionId === optionId);
    const answer =
      state === 'answered' && optionId !== null
        ? visible(chosen?.title ?? chosen?.name ?? optionId)
        : state === 'cancelled'
          ? 'cancelled'
          : 'no answer';
    const no = chosen?.kind?.startsWith('reject') ?? state !== 'answered';
    return [
      element(
        'div',
        { class: 'question-over' },
        icon(no ? 'circle-slash' : 'check'),
        element('span', { class: 'question-asked', text: visible(headline) }),
        element('span', { class: 'badge', text: answer }),
      ),
    ];
  }
}

/** What is told in words; paths are called as everywhere else in the chat. */
function lines({ diffs, facts }: Question, cwd: string | null): string[] {
  const changes = diffs.map(({ path, summary }) => {
    const shown = visible(path);
    return `It ${summary.replace(shown, () => shortPath(shown, cwd))}`;
  });
  return [...changes, ...facts];
}
