import type {
  Elicitation,
  ElicitationAnswer,
  ElicitationBlock,
  QuestionFact,
} from '../../src/protocol.ts';
import { element, icon, Part } from '../element.ts';
import { copyButton } from '../markdown.ts';
import { visible, visibleLines } from '../visible.ts';
import type { BlockContext, BlockView } from './context.ts';
import { type Field, formFields } from './form.ts';
import { Guard, TOO_SOON } from './guard.ts';

/** Something the agent wants to know: a form, or a page to open. */
export function elicitationView(
  block: ElicitationBlock,
  context: BlockContext,
): BlockView<ElicitationBlock> {
  return new ElicitationView(block, context);
}

/** What there is to look at beside the message, which stands above. */
function told({ facts }: Elicitation): QuestionFact[] {
  return facts.filter(({ kind }) => kind !== 'message');
}

class ElicitationView implements BlockView<ElicitationBlock> {
  readonly nodes: Node[];
  readonly #context: BlockContext;
  readonly #card: Part<unknown>;
  readonly #said = element('div', { class: 'guard-note' });
  #block: ElicitationBlock;
  #fields: Field[] = [];
  #sent: ElicitationAnswer['action'] | null = null;
  /** The form that was answered: another one in its place says what is wrong with it. */
  #answered: string | null = null;

  constructor(block: ElicitationBlock, context: BlockContext) {
    this.#context = context;
    this.#block = block;
    this.#card = new Part(element('div', { class: 'card question', 'data-card': 'form' }), () =>
      this.#draw(),
    );
    this.nodes = [this.#card.element];
    this.update(block);
  }

  label(block: ElicitationBlock): string {
    return `Question: ${visible(block.message)}`;
  }

  update(block: ElicitationBlock): void {
    this.#block = block;
    const form = this.#context.elicitation(block.requestId);
    if (this.#answered !== null && JSON.stringify(form) !== this.#answered) {
      this.#again();
    }
    this.#card.element.dataset.state = block.state;
    this.#card.show([block, form, this.#sent]);
  }

  #draw(): (Node | null)[] {
    const form = this.#context.elicitation(this.#block.requestId);
    if (this.#block.state !== 'waiting') {
      return this.#over();
    }
    return [
      element(
        'div',
        { class: 'question-head' },
        icon(this.#block.mode === 'url' ? 'link-external' : 'question'),
        element('div', {
          class: 'question-title',
          text: visibleLines(form?.message ?? this.#block.message),
        }),
      ),
      form === null
        ? element('div', { class: 'muted', text: 'The form is on its way…' })
        : form.mode === 'url'
          ? this.#page(form)
          : this.#form(form),
      form === null ? null : this.#buttons(form),
      this.#said,
    ];
  }

  #page(form: Elicitation): HTMLElement {
    return element(
      'div',
      { class: 'page' },
      element('div', { text: visible(form.headline) }),
      ...told(form).map((fact) => this.#fact(fact)),
    );
  }

  #fact({ kind, text, value }: QuestionFact): HTMLElement {
    if (typeof value === 'string' && kind === 'host') {
      return element('div', {}, 'Host: ', element('strong', { text: visible(value) }));
    }
    if (typeof value === 'string' && kind === 'address') {
      return element(
        'div',
        { class: 'command-line' },
        element('code', { text: visible(value) }),
        copyButton(() => value, this.#context),
      );
    }
    return kind === 'warning'
      ? element('div', { class: 'page-warning' }, icon('warning'), visible(text))
      : element('div', { text: visibleLines(text) });
  }

  #form(form: Elicitation): HTMLElement {
    this.#fields = formFields(form, this.#context.kept);
    for (const field of this.#fields) {
      field.problem(form.problems.find((it) => it.field === field.name)?.message ?? null);
    }
    const named = new Set(this.#fields.map((it) => it.name));
    const others = form.problems.filter((it) => !named.has(it.field));
    return element(
      'div',
      { class: 'form' },
      ...told(form).map((fact) => this.#fact(fact)),
      ...others.map((it) => element('div', { class: 'field-problem', text: visible(it.message) })),
      ...this.#fields.map((it) => it.element),
    );
  }

  #buttons(form: Elicitation): HTMLElement {
    const guard = new Guard(
      () => this.#context.movedAt(),
      () => this.#refused(),
    );
    const row = element('div', { class: 'answers', role: 'group', 'aria-label': 'Answers' });
    const button = (action: ElicitationAnswer['action'], symbol: string, label: string) => {
      const made = element('button', {
        type: 'button',
        class: 'answer',
        'data-key': action,
        disabled: this.#sent !== null,
      });
      made.append(icon(symbol), label);
      guard.watch(made, () => this.#answer(form, action));
      row.append(made);
    };
    button('accept', 'check', form.mode === 'url' ? 'Open the page' : 'Send');
    button('decline', 'close', 'Decline');
    button('cancel', 'circle-slash', 'Not now');
    return row;
  }

  #answer(form: Elicitation, action: ElicitationAnswer['action']): void {
    const { requestId } = this.#block;
    const answer: ElicitationAnswer = { action };
    if (action === 'accept' && form.mode === 'form') {
      const filled = this.#fields.map((it) => [it.name, it.value()] as const);
      answer.content = Object.fromEntries(filled.filter(([, value]) => value !== undefined));
    }
    this.#sent = action;
    this.#answered = JSON.stringify(form);
    this.#context.send({ type: 'answerForm', requestId, answer });
    for (const button of this.#card.element.querySelectorAll<HTMLButtonElement>('.answer')) {
      button.disabled = true;
    }
    // The same wrong answer twice comes back as the same form.
    setTimeout(() => {
      this.#again();
      this.update(this.#block);
    }, 3000);
  }

  #again(): void {
    this.#answered = null;
    this.#sent = null;
  }

  #refused(): void {
    this.#said.textContent = TOO_SOON;
    this.#context.announce(this.#said.textContent);
  }

  #over(): Node[] {
    const { action, state, message, mode, completed } = this.#block;
    const words: Record<string, string> = {
      accept: 'answered',
      decline: 'declined',
      cancel: 'cancelled',
    };
    const said = words[action ?? ''] ?? visible(state);
    return [
      element(
        'div',
        { class: 'question-over' },
        icon(action === 'accept' ? 'check' : 'circle-slash'),
        element('span', { class: 'question-asked', text: visible(message.split('\n')[0] ?? '') }),
        element('span', { class: 'badge', text: mode === 'url' && completed ? 'done' : said }),
      ),
    ];
  }
}
