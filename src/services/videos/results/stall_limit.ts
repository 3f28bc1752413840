import type { Clock } from "../../../platform/lib/basics/clock.ts";
import { EgressError } from "../../../platform/net/egress_error.ts";

type GiveUp = (failure: EgressError) => void;

/**
 * Yields the same bytes, and fails when none arrived for `stallMs` to twice `stallMs`.
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
  /** Rejects the pending read; null while the reader processes the previous piece. */
  let giveUp = null as GiveUp | null;
  let waitedFor: GiveUp | null = null;
  // One timer checks whether the same piece is still pending, because a gigabyte arrives in tens of thousands of
  // pieces.
  const watch = () => {
    if (giveUp !== null && giveUp === waitedFor) {
      return giveUp(new EgressError("timeout", `no data received for ${stallMs / 1_000} s`));
    }
    waitedFor = giveUp;
    stop = clock.after(stallMs, watch);
  };
  // A race with one shared promise would keep every piece in memory until it settles.
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
    // Not awaited: a source that stalls may not end either.
    iterator.return?.()?.catch(() => {});
  }
}
