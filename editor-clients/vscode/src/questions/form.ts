import {
  env,
  type InputBox,
  QuickInputButtons,
  type QuickPick,
  type QuickPickItem,
  window,
} from 'vscode';

import type { Elicitation, ElicitationAnswer } from '../protocol.ts';
import { rowText, shortened, visible, visibleLines, withoutIcons, wrapped } from '../visible.ts';
import type { Elicitations } from './elicitation.ts';
import { inShort, ROW } from './facts.ts';
import { type Field, fieldsOf, parsed, shownValue } from './form_fields.ts';
import { BACK, pick, type Row, separator } from './picker.ts';

type Choice = { field: Field } | { copy: string } | { action: ElicitationAnswer['action'] };

/** A form that does not fit comes again within this time. */
const AGAIN_MS = 3000;

/**
 * Lets the user fill in a form field by field. What was typed is forgotten with the list.
 *
 * @returns whether to go back to where the user came from
 */
export async function fillIn(
  forms: Elicitations,
  requestId: string,
  back: boolean,
): Promise<boolean> {
  let form = forms.get(requestId);
  while (form) {
    const answer = await answered(forms, form, back);
    if (answer === null || answer === BACK) {
      return answer === BACK;
    }
    const again = answer.action === 'accept' ? comesAgain(forms, requestId) : null;
    forms.answer(requestId, answer);
    form = (await again) ?? undefined;
  }
  return back;
}

async function answered(
  forms: Elicitations,
  form: Elicitation,
  back: boolean,
): Promise<ElicitationAnswer | typeof BACK | null> {
  const { requestId } = form;
  const fields = fieldsOf(form);
  const values = new Map(fields.map((field) => [field.name, field.proposed]));
  for (;;) {
    const choice = await pick<Choice>({
      title: inShort(form, ROW),
      placeholder:
        form.mode === 'url'
          ? 'Look at the address. Esc leaves the question waiting.'
          : 'Choose a field to fill it in. Esc leaves the form waiting.',
      rows: form.mode === 'url' ? pageRows(form) : formRows(form, fields, values),
      back,
      onDidChange: forms.onDidChange,
      stillOpen: () => forms.get(requestId) === form,
    });
    if (choice === null || choice === BACK) {
      return choice;
    }
    if ('copy' in choice) {
      await env.clipboard.writeText(choice.copy);
    } else if ('field' in choice) {
      const value = await filled(forms, form, choice.field, values.get(choice.field.name));
      if (value) {
        values.set(choice.field.name, value.value);
      }
    } else if (choice.action !== 'accept' || form.mode === 'url') {
      return { action: choice.action };
    } else {
      const given = [...values].filter(([, value]) => value !== undefined && value !== null);
      return { action: 'accept', content: Object.fromEntries(given) };
    }
    if (forms.get(requestId) !== form) {
      return null;
    }
  }
}

const NO_ANSWERS: Row<Choice>[] = [
  { label: '$(circle-slash) Not now', choice: { action: 'cancel' } },
  { label: '$(close) Decline', choice: { action: 'decline' } },
];

function formRows(form: Elicitation, fields: Field[], values: Map<string, unknown>): Row<Choice>[] {
  return [
    ...said(visibleLines(form.message)),
    // The message has lines of its own in a form.
    ...told(form.facts.filter(({ kind }) => kind !== 'message')),
    separator('Fields'),
    ...fields.map((field) => {
      const problem = form.problems.find((each) => each.field === field.name)?.message;
      const value = shownValue(field, values.get(field.name));
      const detail = problem ? `$(error) It ${problem}` : rowText(field.description ?? '');
      return {
        label: `$(edit) ${rowText(field.title)}${field.required ? ' *' : ''}`,
        description: value ? withoutIcons(shortened(visible(value), 60)) : 'not filled in',
        ...(detail ? { detail } : {}),
        choice: { field },
      };
    }),
    separator('Answers'),
    ...NO_ANSWERS,
    { label: '$(check) Send', choice: { action: 'accept' } },
  ];
}

function pageRows(form: Elicitation): Row<Choice>[] {
  return [
    ...told(form.facts),
    { label: '$(copy) Copy the address', choice: { copy: form.url ?? '' } },
    separator('Answers'),
    ...NO_ANSWERS,
    { label: '$(link-external) Open the page', choice: { action: 'accept' } },
  ];
}

function told(facts: Elicitation['facts']): Row<Choice>[] {
  return facts.flatMap(({ kind, text }) => said([text], kind === 'warning' ? 'warning' : 'blank'));
}

function said(lines: string[], icon = 'blank'): Row<Choice>[] {
  return lines
    .flatMap((line) => wrapped(line, ROW))
    .map((row) => ({ label: `$(${icon}) ${withoutIcons(row)}` }));
}

/** What the user fills in, null where the list or field was put away. */
async function filled(
  forms: Elicitations,
  form: Elicitation,
  field: Field,
  value: unknown,
): Promise<{ value: unknown } | null> {
  return field.choices
    ? chosen(forms, form, field, field.choices, value)
    : typed(forms, form, field, value);
}

type Chosen = QuickPickItem & { value: string | boolean | undefined };

function chosen(
  forms: Elicitations,
  form: Elicitation,
  field: Field,
  choices: NonNullable<Field['choices']>,
  value: unknown,
): Promise<{ value: unknown } | null> {
  const list = window.createQuickPick<Chosen>();
  const several = field.type === 'array';
  const taken: unknown[] = Array.isArray(value) ? value : [value];
  list.placeholder = visible(field.description ?? '');
  list.canSelectMany = several;
  list.items = [
    ...choices.map((choice) => ({
      label: rowText(choice.title),
      value: choice.value,
    })),
    ...(field.required || several ? [] : [{ label: '$(dash) Leave it out', value: undefined }]),
  ];
  const before = list.items.filter((item) => taken.includes(item.value));
  if (several) {
    list.selectedItems = before;
  } else {
    list.activeItems = before;
  }
  return given(forms, form, field, list, () => {
    const values = list.selectedItems.map((item) => item.value);
    return several ? values : values[0];
  });
}

function typed(
  forms: Elicitations,
  form: Elicitation,
  field: Field,
  value: unknown,
): Promise<{ value: unknown } | null> {
  const box = window.createInputBox();
  box.prompt = visible(field.description ?? '');
  box.password = field.secret;
  box.value = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  return given(forms, form, field, box, () => parsed(field, box.value));
}

/** Shows a list or a box for a field, until it is accepted, put away, or not waited for. */
function given(
  forms: Elicitations,
  form: Elicitation,
  field: Field,
  shown: QuickPick<Chosen> | InputBox,
  value: () => unknown,
): Promise<{ value: unknown } | null> {
  shown.title = visible(field.title);
  shown.ignoreFocusOut = true;
  shown.buttons = [QuickInputButtons.Back];
  return new Promise((resolve) => {
    const done = (answer: { value: unknown } | null) => {
      resolve(answer);
      settled.dispose();
      shown.dispose();
    };
    const settled = forms.onDidChange(() => {
      if (forms.get(form.requestId) !== form) {
        done(null);
      }
    });
    shown.onDidAccept(() => done({ value: value() }));
    shown.onDidTriggerButton(() => done(null));
    shown.onDidHide(() => done(null));
    shown.show();
  });
}

/** The form once more, with what does not fit; null where it fits. */
function comesAgain(forms: Elicitations, requestId: string): Promise<Elicitation | null> {
  return new Promise((resolve) => {
    const done = (form: Elicitation | null) => {
      clearTimeout(timer);
      subscription.dispose();
      resolve(form);
    };
    const timer = setTimeout(() => done(null), AGAIN_MS);
    const subscription = forms.onDidChange(() => {
      const form = forms.get(requestId);
      if (form && form.problems.length > 0) {
        done(form);
      }
    });
  });
}
