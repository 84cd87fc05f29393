import type { Location, PermissionBlock, Question, QuestionFact } from '../../src/protocol.ts';
import { element, icon, Part } from '../element.ts';
import { pathLink } from '../markdown.ts';
import { isFolder, shortPath } from '../paths.ts';
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
    return [
      element(
        'div',
        { class: 'question-head' },
        icon('question'),
        element('div', { class: 'question-title', text: visible(this.#block.headline) }),
      ),
      ...(question ? this.#facts(question) : []),
      this.#buttons(question),
      this.#said,
    ];
  }

  /** What is known of it. What can be drawn stands there only so, and not in words as well. */
  #facts(question: Question): (Node | null)[] {
    const context = this.#context;
    const shown = question.diffs.map((it) => it.path);
    const input = question.rawInput ?? null;
    const description = question.description ?? this.#block.description;
    const left = question.facts.find(({ kind }) => kind === 'arguments');
    const told = ({ kind, value }: QuestionFact) =>
      (question.command !== null &&
        (kind === 'folder' || kind === 'path') &&
        typeof value === 'string' &&
        isFolder(value, context.cwd)) ||
      kind === 'arguments' ||
      (kind === 'explanation' && description);
    const words = question.facts.filter((fact) => !told(fact));
    const places = [
      ...question.locations,
      ...question.paths
        .filter((path) => !question.locations.some((it) => it.path === path))
        .map((path) => ({ path, line: null })),
    ].filter((it) => !shown.includes(it.path));
    const named = question.facts.filter(({ kind }) => kind === 'path').map(({ value }) => value);
    const beside = places.filter(({ path }) => !named.includes(path));
    const folder = question.facts.some(({ kind }) => kind === 'folder') ? null : question.cwd;
    return [
      question.command === null ? null : commandLine(question.command, folder, context),
      this.#message(summaries(question, context.cwd), words, places),
      description
        ? element('div', { class: 'question-description', text: visibleLines(description) })
        : null,
      beside.length === 0
        ? null
        : element('div', { class: 'places' }, ...beside.map((it) => this.#link(it))),
      ...question.diffs.map((it, index) => questionDiff(it, index, context)),
      left === undefined ? null : jsonFold(context, 'Arguments', left.value, true),
      input === null || same(left?.value, input) ? null : jsonFold(context, 'Input', input),
    ];
  }

  /** What is told in words, a line each; a path in them leads to its file. */
  #message(changes: string[], facts: QuestionFact[], places: Location[]): Node | null {
    if (changes.length + facts.length === 0) {
      return null;
    }
    const drawn = facts.map(({ kind, text, value, note }) => {
      const place = kind === 'path' ? places.find(({ path }) => path === value) : undefined;
      return place
        ? element('div', {}, 'Path: ', this.#link(place), note)
        : element('div', { text: visibleLines(text) });
    });
    const said = changes.map((text) => element('div', { text: visibleLines(text) }));
    return element('div', { class: 'question-message' }, ...said, ...drawn);
  }

  #link(it: Location): HTMLElement {
    const { cwd } = this.#context;
    const text = shortPath(it.path, cwd) + (it.line === null ? '' : `:${it.line}`);
    return pathLink(text, it, this.#context);
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
    const { state, optionId, options, headline, rejected } = this.#block;
    const chosen = options.find((it) => it.optionId === optionId);
    const answer =
      state === 'answered' && optionId !== null
        ? visible(chosen?.title ?? chosen?.name ?? optionId)
        : state === 'cancelled'
          ? 'cancelled'
          : 'no answer';
    return [
      element(
        'div',
        { class: 'question-over' },
        icon(rejected === false ? 'check' : 'circle-slash'),
        element('span', { class: 'question-asked', text: visible(headline) }),
        element('span', { class: 'badge', text: answer }),
      ),
    ];
  }
}

/** What the changes come to; paths are called as everywhere else in the chat. */
function summaries({ diffs }: Question, cwd: string | null): string[] {
  return diffs.map(({ path, summary }) => {
    const shown = visible(path);
    return `It ${summary.replace(shown, () => shortPath(shown, cwd))}`;
  });
}

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
