/** How long an answer is waited for: a machine that runs other suites, too, is slow. */
const ANSWER_MS = 180_000;
/** How long a state is waited for: a refused event, or what a sweep removes, takes ten minutes. */
const STATE_MS = 900_000;
/** Interval between two looks at a state. */
const LOOK_EVERY_MS = 5;

/**
 * Resolves as a promise does.
 *
 * @param what What is waited for; for the error.
 * @param limitMs How long, at most, in milliseconds. Default: three minutes.
 * @throws {Error} If it takes longer.
 */
export async function withPatience<T>(what: string, promise: Promise<T>, limitMs = ANSWER_MS): Promise<T> {
  const limit = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => limit.reject(new Error(`${what}: nothing happened within ${limitMs / 1_000} s`)),
    limitMs,
  );
  try {
    return await Promise.race([promise, limit.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Looks until a state is reached, and returns it.
 *
 * @param what The state; for the error, which shows what was seen last.
 * @throws {Error} If it takes more than a quarter of an hour.
 */
export async function stateOf<T>(
  what: string,
  look: () => Promise<T> | T,
  isReached: (value: T) => boolean,
): Promise<T> {
  const endMs = performance.now() + STATE_MS;
  // Ends at the time limit.
  for (;;) {
    const value = await look();
    if (isReached(value)) return value;
    if (performance.now() > endMs) throw new Error(`${what} is not so after ${STATE_MS / 1_000} s: ${shown(value)}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

/**
 * Waits until a condition is true.
 *
 * @throws {Error} If it takes more than a quarter of an hour.
 */
export async function untilSo(isSo: () => Promise<boolean> | boolean): Promise<void> {
  await stateOf(String(isSo), isSo, (value) => value);
}

const SHOWN_CHARACTERS = 20_000;

function shown(value: unknown): string {
  return Deno.inspect(value, { depth: 6, iterableLimit: 200 }).slice(0, SHOWN_CHARACTERS);
}
