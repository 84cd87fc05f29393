/** One line as it is drawn; the numbers count from 1, null where there is none of that side. */
export interface DiffLine {
  sign: ' ' | '+' | '-';
  text: string;
  before: number | null;
  after: number | null;
}

/** Lines that change and those around them. */
export interface DiffPart {
  /** How many lines are left out before it. */
  skipped: number;
  lines: DiffLine[];
}

/** What one file's diff shows. */
export interface FileDiff {
  parts: DiffPart[];
  added: number;
  removed: number;
}

const CONTEXT = 3;
/** Beyond as many steps two texts are told to be wholly different. */
const MOST_STEPS = 1500;

/** The lines in which two texts differ, with three of context; null is a file that is not there. */
export function diffTexts(before: string | null, after: string): FileDiff {
  const old = linesOf(before ?? '');
  const now = linesOf(after);
  return inParts(compared(old, now));
}

/** The lines of a text without their ends; a last line without an end counts. */
function linesOf(text: string): string[] {
  if (text === '') {
    return [];
  }
  const lines = text.split(/\r?\n/u);
  if (lines.at(-1) === '') {
    lines.pop();
  }
  return lines;
}

function compared(old: string[], now: string[]): DiffLine[] {
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) {
    head += 1;
  }
  let tail = 0;
  const most = Math.min(old.length, now.length) - head;
  while (tail < most && old[old.length - 1 - tail] === now[now.length - 1 - tail]) {
    tail += 1;
  }
  const lines: DiffLine[] = [];
  let before = 0;
  let after = 0;
  const same = (count: number) => {
    for (let index = 0; index < count; index += 1) {
      lines.push({ sign: ' ', text: now[after] ?? '', before: ++before, after: ++after });
    }
  };
  same(head);
  const oldMiddle = old.slice(head, old.length - tail);
  const newMiddle = now.slice(head, now.length - tail);
  for (const sign of script(oldMiddle, newMiddle)) {
    if (sign === ' ') {
      same(1);
    } else if (sign === '-') {
      lines.push({ sign, text: old[before] ?? '', before: ++before, after: null });
    } else {
      lines.push({ sign, text: now[after] ?? '', before: null, after: ++after });
    }
  }
  same(tail);
  return lines;
}

/** Myers' shortest edit script, deletions first. */
function script(old: string[], now: string[]): DiffLine['sign'][] {
  const whole = (): DiffLine['sign'][] => [
    ...old.map(() => '-' as const),
    ...now.map(() => '+' as const),
  ];
  if (old.length === 0 || now.length === 0) {
    return whole();
  }
  const most = Math.min(old.length + now.length, MOST_STEPS);
  const offset = most + 1;
  const reach = new Int32Array(2 * most + 3);
  const trace: Int32Array[] = [];
  for (let step = 0; step <= most; step += 1) {
    trace.push(reach.slice(offset - step - 1, offset + step + 2));
    for (let diagonal = -step; diagonal <= step; diagonal += 2) {
      const below = reach[offset + diagonal + 1] ?? 0;
      const left = reach[offset + diagonal - 1] ?? 0;
      let x = diagonal === -step || (diagonal !== step && left < below) ? below : left + 1;
      while (x < old.length && x - diagonal < now.length && old[x] === now[x - diagonal]) {
        x += 1;
      }
      reach[offset + diagonal] = x;
      if (x >= old.length && x - diagonal >= now.length) {
        return walkedBack(trace, old.length, now.length);
      }
    }
  }
  return whole();
}

function walkedBack(trace: Int32Array[], oldLength: number, newLength: number): DiffLine['sign'][] {
  const signs: DiffLine['sign'][] = [];
  let x = oldLength;
  let y = newLength;
  for (let step = trace.length - 1; step > 0; step -= 1) {
    const reach = trace[step] ?? new Int32Array();
    const at = (diagonal: number) => reach[diagonal + step + 1] ?? 0;
    const diagonal = x - y;
    const down = diagonal === -step || (diagonal !== step && at(diagonal - 1) < at(diagonal + 1));
    const from = down ? diagonal + 1 : diagonal - 1;
    const fromX = at(from);
    const fromY = fromX - from;
    while (x > fromX + (down ? 0 : 1) || y > fromY + (down ? 1 : 0)) {
      signs.push(' ');
      x -= 1;
      y -= 1;
    }
    signs.push(down ? '+' : '-');
    x = fromX;
    y = fromY;
  }
  for (; x > 0; x -= 1) {
    signs.push(' ');
  }
  return signs.reverse();
}

function inParts(lines: DiffLine[]): FileDiff {
  const spans: { from: number; until: number }[] = [];
  let added = 0;
  let removed = 0;
  lines.forEach((line, index) => {
    if (line.sign === ' ') {
      return;
    }
    added += line.sign === '+' ? 1 : 0;
    removed += line.sign === '-' ? 1 : 0;
    const from = Math.max(index - CONTEXT, 0);
    const until = Math.min(index + CONTEXT + 1, lines.length);
    const last = spans.at(-1);
    if (last && from <= last.until) {
      last.until = until;
    } else {
      spans.push({ from, until });
    }
  });
  const parts = spans.map(({ from, until }, index) => ({
    skipped: from - (spans[index - 1]?.until ?? 0),
    lines: lines.slice(from, until),
  }));
  return { parts, added, removed };
}
