import type { Usage } from '../src/protocol.ts';

/** Like "12k of 200k tokens, $0.10". */
export function usageText({ used, size, cost }: Usage): string {
  const tokens = used === null ? null : `${short(used)}${size ? ` of ${short(size)}` : ''} tokens`;
  return [tokens, cost && money(cost.amount, cost.currency)].filter(Boolean).join(', ');
}

function short(count: number): string {
  if (count < 1000) {
    return String(count);
  }
  const [size, unit] = count < 1_000_000 ? [count / 1000, 'k'] : [count / 1_000_000, 'M'];
  return `${size < 10 && size % 1 >= 0.05 ? size.toFixed(1) : Math.round(size)}${unit}`;
}

function money(amount: number, currency: string): string {
  try {
    return new Intl.NumberFormat('en', { style: 'currency', currency }).format(amount);
  } catch {
    return `${amount} ${currency}`;
  }
}
