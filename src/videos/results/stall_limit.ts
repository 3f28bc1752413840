import type { Clock } from "../../lib/clock.ts";
import { EgressError } from "../../net/egress_error.ts";

type GiveUp = (failure: EgressError) => void;

/**
 * The same bytes, given up once none came for a time: `stallMs` at least, twice that at most.
 *
 * @throws {EgressError} `timeout`, while it is read.
 */
export async function* withStallLimit(
  source: AsyncIterable<Uint8Array>,
  clock: Clock,
  stallMs: number,
): AsyncGenerator<Uint8Array> {
  const iterator = source[Symbol.asyncIterator]();
  let stop = () => {};
  /** Of the piece that is waited for; null while the reader is busy with the one before. */
  let giveUp = null as GiveUp | null;
  let waitedFor: GiveUp | null = null;
  // One timer that looks whether the same piece is still waited for: a gigabyte comes in ten thousands of pieces.
  const watch = () => {
    if (giveUp !== null && giveUp === waitedFor) {
      return giveUp(new EgressError("timeout", `no byte came for ${stallMs / 1_000} s`));
    }
    waitedFor = giveUp;
    stop = clock.after(stallMs, watch);
  };
  // Not a race with one promise for all: that would hold every piece until it is settled.
  const next = () =>
    new Promise<IteratorResult<Uint8Array>>((resolve, reject) => {
      giveUp = reject;
      iterator.next().then(resolve, reject);
    });
  watch();
  try {
    for (;;) {
      const { done, value } = await next();
      giveUp = null;
      if (done) return;
      yield value;
    }
  } finally {
    stop();
    // Without waiting: a source that stalls may not end either.
    iterator.return?.()?.catch(() => {});
  }
}
