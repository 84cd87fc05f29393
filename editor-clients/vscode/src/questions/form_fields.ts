import type { Elicitation, FormField } from '../protocol.ts';

/** A field of a form, as far as it can be filled in. */
export interface Field {
  name: string;
  title: string;
  description: string | null;
  type: 'string' | 'number' | 'integer' | 'boolean' | 'array';
  required: boolean;
  secret: boolean;
  /** What can be chosen; null where something is to be typed. */
  choices: { value: string | boolean; title: string }[] | null;
  proposed: unknown;
}

/** The fields in the agent's order, without those of a type that is not known. */
export function fieldsOf(form: Elicitation): Field[] {
  const { properties = {}, required = [] } = form.requestedSchema ?? {};
  return form.fields.flatMap((name) => {
    const field = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const type = field?.type;
    if (!field || !isKnown(type)) {
      return [];
    }
    return {
      name,
      title: shown(field.title) ?? name,
      description: shown(field.description),
      type,
      required: required.includes(name),
      secret: field._meta?.secret === true || field.format === 'password',
      choices: choicesOf(field),
      proposed: form.content?.[name] ?? field.default,
    };
  });
}

/**
 * What was typed as the value of a field.
 *
 * @returns undefined for nothing; a text that is no number stays one, for the sidecar to refuse.
 */
export function parsed(field: Field, typed: string): unknown {
  if (typed === '') {
    return undefined;
  }
  const isNumber = field.type === 'number' || field.type === 'integer';
  const number = Number(typed);
  return isNumber && typed.trim() !== '' && !Number.isNaN(number) ? number : typed;
}

/** A value in words. */
export function shownValue(field: Field, value: unknown): string {
  if (value === undefined || value === null) {
    return '';
  }
  if (field.secret) {
    return '••••••';
  }
  const titleOf = (each: unknown) =>
    field.choices?.find((choice) => choice.value === each)?.title ?? String(each);
  return Array.isArray(value) ? value.map(titleOf).join(', ') : titleOf(value);
}

/** The schema is the agent's: a text to show may be none. */
function shown(text: unknown): string | null {
  return typeof text === 'string' && text !== '' ? text : null;
}

function isKnown(type: string | undefined): type is Field['type'] {
  return ['string', 'number', 'integer', 'boolean', 'array'].includes(type ?? '');
}

function choicesOf(field: FormField): Field['choices'] {
  if (field.type === 'boolean') {
    return [
      { value: true, title: 'Yes' },
      { value: false, title: 'No' },
    ];
  }
  const holder = field.type === 'array' ? (field.items ?? {}) : field;
  const titled = 'oneOf' in holder ? holder.oneOf : (holder as FormField['items'])?.anyOf;
  if (titled) {
    return titled.map((each) => ({ value: each.const, title: shown(each.title) ?? each.const }));
  }
  const names = field.enumNames ?? [];
  const named = holder.enum?.map((value, index) => ({
    value,
    title: shown(names[index]) ?? value,
  }));
  return named ?? (field.type === 'array' ? [] : null);
}
