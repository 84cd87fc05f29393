/** Waiting for what will be true, never longer than so many seconds. */

const INTERVAL = 50;
/** What is said of a page, or a part of it, that another has taken the place of. */
const GONE = /Execution context was destroyed|Frame was detached|failed to find frame/i;

/**
 * Asks again and again until the answer is one.
 *
 * @param what in words, for the error: "the file is saved"
 * @param probe undefined, false and an empty text or list mean: not yet; so does a page that is
 *   loaded anew while it is asked
 * @param seconds how long at most
 * @throws Error it took longer; the message has the last answer
 */
export async function until<T>(
  what: string,
  probe: () => T | Promise<T>,
  seconds = 30,
): Promise<Exclude<T, undefined | false | null | ''>> {
  const end = performance.now() + seconds * 1000;
  for (;;) {
    const answer = await asked(probe);
    if (Array.isArray(answer) ? answer.length > 0 : Boolean(answer)) {
      return answer as Exclude<T, undefined | false | null | ''>;
    }
    if (performance.now() > end) {
      throw new Error(`Not within ${seconds} s: ${what}`);
    }
    await new Promise((resolve) => setTimeout(resolve, INTERVAL));
  }
}

async function asked<T>(probe: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await probe();
  } catch (error) {
    if (error instanceof Error && GONE.test(error.message)) {
      return undefined;
    }
    throw error;
  }
}

/**
 * Asks until the answer is the expected text; shows both where it never is.
 *
 * @throws Error with the last answer
 */
export async function untilSame(
  what: string,
  expected: string,
  probe: () => string | Promise<string>,
  seconds = 30,
): Promise<void> {
  let last = '';
  try {
    await until(what, async () => (last = await probe()) === expected, seconds);
  } catch {
    const shown = `expected ${JSON.stringify(expected)}\n     got ${JSON.stringify(last)}`;
    throw new Error(`Not within ${seconds} s: ${what}\n${shown}`);
  }
}
