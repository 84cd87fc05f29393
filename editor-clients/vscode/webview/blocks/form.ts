import type { Elicitation, FormField } from '../../src/protocol.ts';
import { type Field as Described, fieldsOf, parsed } from '../../src/questions/form_fields.ts';
import { element } from '../element.ts';
import { visible } from '../visible.ts';

/** One field of a form: what is drawn, and what is in it. */
export interface Field {
  name: string;
  element: HTMLElement;
  /** Undefined where nothing is filled in. */
  value: () => unknown;
  /** Shows what is wrong with it. */
  problem: (message: string | null) => void;
}

let fields = 0;

/**
 * The fields of a form that can be drawn, in the agent's order. What was typed is in `kept`
 * while it is waited for, except secrets.
 */
export function formFields(form: Elicitation, kept: Map<string, unknown>): Field[] {
  return fieldsOf(form).map((field) => {
    const key = `field:${field.name}`;
    const schema = form.requestedSchema?.properties?.[field.name] ?? {};
    const given = kept.has(key) ? kept.get(key) : field.proposed;
    return drawField(field, schema, given, (value) => {
      if (!field.secret) {
        kept.set(key, value);
      }
    });
  });
}

function drawField(
  field: Described,
  schema: FormField,
  given: unknown,
  keep: (value: unknown) => void,
): Field {
  fields += 1;
  const id = `field-${fields}`;
  const described = `${id}-about`;
  const wrong = element('div', { class: 'field-problem', id: `${id}-problem`, role: 'alert' });
  const { control, labelled, value } = drawControl(id, field, schema, given, keep);
  control.setAttribute('data-key', `field:${field.name}`);
  control.setAttribute('aria-describedby', `${described} ${id}-problem`);
  const label = element(
    labelled ? 'label' : 'span',
    { class: 'field-label', id: `${id}-label`, ...(labelled ? { for: id } : {}) },
    visible(field.title),
    field.required ? element('span', { class: 'required', title: 'required', text: ' *' }) : null,
  );
  if (!labelled) {
    control.setAttribute('role', 'group');
    control.setAttribute('aria-labelledby', `${id}-label`);
  } else if (field.required && field.type !== 'boolean') {
    control.setAttribute('aria-required', 'true');
  }
  const about = element('div', {
    class: 'field-about',
    id: described,
    text: visible(field.description ?? ''),
  });
  const box = element(
    'div',
    { class: 'field', 'data-type': field.type },
    label,
    control,
    about,
    wrong,
  );
  return {
    name: field.name,
    element: box,
    value,
    problem: (message) => {
      wrong.textContent = message === null ? '' : visible(message);
      box.classList.toggle('wrong', message !== null);
      if (labelled) {
        control.setAttribute('aria-invalid', String(message !== null));
      }
    },
  };
}

interface Control {
  control: HTMLElement;
  /** A `label` can name it. */
  labelled: boolean;
  value: () => unknown;
}

function drawControl(
  id: string,
  field: Described,
  schema: FormField,
  given: unknown,
  keep: (value: unknown) => void,
): Control {
  if (field.type === 'boolean') {
    return checkbox(id, given === true, keep);
  }
  if (field.type === 'array') {
    return checkboxes(id, field.choices ?? [], given, keep);
  }
  return field.choices
    ? select(id, field.choices, given, keep)
    : typed(id, field, schema, given, keep);
}

const INPUT_TYPES: Record<string, string> = {
  email: 'email',
  uri: 'url',
  date: 'date',
  'date-time': 'datetime-local',
};

function typed(
  id: string,
  field: Described,
  schema: FormField,
  given: unknown,
  keep: (value: unknown) => void,
): Control {
  const isText = field.type === 'string';
  const type = field.secret
    ? 'password'
    : isText
      ? (INPUT_TYPES[schema.format ?? ''] ?? 'text')
      : 'text';
  const long = isText && type === 'text' && (schema.maxLength ?? Infinity) > 200;
  const control = long
    ? element('textarea', { id, rows: '1', spellcheck: 'false' })
    : element('input', { id, type, spellcheck: 'false', autocomplete: 'off' });
  if (!isText) {
    control.setAttribute('inputmode', field.type === 'integer' ? 'numeric' : 'decimal');
    control.placeholder = range(schema);
  }
  control.value = typeof given === 'string' || typeof given === 'number' ? String(given) : '';
  control.addEventListener('input', () => keep(control.value));
  const value = () => {
    const date = type === 'datetime-local' ? Date.parse(control.value) : Number.NaN;
    // A date with a time is told with its zone.
    return Number.isNaN(date) ? parsed(field, control.value) : new Date(date).toISOString();
  };
  return { control, labelled: true, value };
}

function range({ minimum, maximum }: FormField): string {
  if (minimum !== undefined && maximum !== undefined) {
    return `${minimum} to ${maximum}`;
  }
  return minimum !== undefined
    ? `${minimum} or more`
    : maximum !== undefined
      ? `${maximum} at most`
      : '';
}

function checkbox(id: string, given: boolean, keep: (value: unknown) => void): Control {
  const control = element('input', { id, type: 'checkbox', checked: given });
  control.addEventListener('change', () => keep(control.checked));
  return { control, labelled: true, value: () => control.checked };
}

type Choices = NonNullable<Described['choices']>;

function select(
  id: string,
  choices: Choices,
  given: unknown,
  keep: (value: unknown) => void,
): Control {
  const control = element('select', { id });
  control.append(element('option', { value: '', text: '…' }));
  choices.forEach(({ value, title }, index) => {
    const properties = { value: String(index), text: visible(title), selected: value === given };
    control.append(element('option', properties));
  });
  const value = () => (control.value === '' ? undefined : choices[Number(control.value)]?.value);
  control.addEventListener('change', () => keep(value()));
  return { control, labelled: true, value };
}

function checkboxes(
  id: string,
  choices: Choices,
  given: unknown,
  keep: (value: unknown) => void,
): Control {
  const chosen = new Set<unknown>(Array.isArray(given) ? given : []);
  const control = element('div', { id, class: 'choices' });
  const boxes = choices.map((choice) => {
    const box = element('input', { type: 'checkbox', checked: chosen.has(choice.value) });
    control.append(element('label', {}, box, visible(choice.title)));
    return { box, choice };
  });
  const value = () => boxes.filter(({ box }) => box.checked).map(({ choice }) => choice.value);
  control.addEventListener('change', () => keep(value()));
  return { control, labelled: false, value };
}
