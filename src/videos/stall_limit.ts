import type { Clock } from "../lib/clock.ts";
import { EgressError } from "../net/egress_error.ts";

/**
 * The same bytes, given up once none came for a time.
 *
 * @throws {EgressError} `timeout`, while it is read.
 */
export async function* withStallLimit(
  source: AsyncIterable<Uint8Array>,
  clock: Clock,
  stallMs: number,
): AsyncGenerator<Uint8Array> {
  const iterator = source[Symbol.asyncIterator]();
  const stalled = Promise.withResolvers<never>();
  stalled.promise.catch(() => {}); // only of interest while something races with it
  let hasMoved = true;
  let stop = () => {};
  // One timer that looks whether anything came: a gigabyte comes in ten thousands of pieces.
  const watch = () => {
    if (!hasMoved) return stalled.reject(new EgressError("timeout", `no byte came for ${stallMs / 1_000} s`));
    hasMoved = false;
    stop = clock.after(stallMs, watch);
  };
  watch();
  try {
    for (;;) {
      const { done, value } = await Promise.race([iterator.next(), stalled.promise]);
      if (done) return;
      hasMoved = true;
      yield value;
    }
  } finally {
    stop();
    // Without waiting: a source that stalls may not end either.
    iterator.return?.()?.catch(() => {});
  }
}
