const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];

/** A time in words: "5 minutes ago", after a week the date; null where it is none. */
export function ago(time: Date, now: Date): string | null {
  const passed = now.getTime() - time.getTime();
  if (Number.isNaN(passed)) {
    return null;
  }
  if (passed > 7 * 86_400_000) {
    return time.toISOString().slice(0, 10);
  }
  const format = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
  const step = STEPS.find(([, size]) => passed >= size);
  return step ? format.format(-Math.floor(passed / step[1]), step[0]) : 'just now';
}
