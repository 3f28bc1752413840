import { encodeKey } from "../key_encoding.ts";
import { bytesOf, read, repeated } from "./database.ts";
import type { RateLimit } from "../gcra.ts";
import type { Readable } from "./read.ts";

/** A refusal that this node knows, so that a caller that asks too often costs no statement. */
interface Refusal {
  readonly limit: RateLimit;
  /** Until then the same request is refused, by the engine's clock. */
  readonly until: number;
}

const MAX_REFUSALS = 10_000;

/** Rate limits that hold over all nodes: the buckets are rows of an unlogged table. */
export class RateBuckets {
  readonly #refusals = new Map<string, Refusal>();

  /**
   * Takes units from a bucket.
   *
   * @param now The engine's time, for refusals that are known.
   * @throws {RangeError} If the cost exceeds the burst, or a parameter is not positive.
   * @throws {StoreReadError} If the server cannot answer now.
   */
  async take(
    { sql, now: parameter }: Readable,
    { bucket, limit, now }: { readonly bucket: string; readonly limit: RateLimit; readonly now: () => number },
  ): Promise<{ readonly ok: boolean; readonly waitMs: number }> {
    const { perMs, burst, cost } = limit;
    if (!(perMs > 0 && cost > 0 && cost <= burst)) {
      throw new RangeError(`Cannot take ${cost} from a bucket of ${burst} that earns one in ${perMs} ms`);
    }
    const known = this.#waitMs(bucket, limit, now());
    if (known > 0) return { ok: false, waitMs: known };
    const name = bytesOf(encodeKey([bucket]));
    const statement = () =>
      sql<{ ok: boolean; allowed_at: number }[]>`
        select ok, allowed_at from switchyard.take_v1(
          ${name}, coalesce(${parameter}::float8, switchyard.now_ms()), ${perMs}::float8, ${burst}::float8,
          ${cost}::float8
        )`;
    // Like a read: units that a lost connection took are taken twice, which is harmless.
    const [row] = await read(() => repeated(statement));
    if (!row || row.ok) return { ok: true, waitMs: 0 };
    this.#remember(bucket, { limit, until: row.allowed_at });
    return { ok: false, waitMs: Math.max(1, waitUntil(row.allowed_at, now())) };
  }

  #waitMs(bucket: string, { perMs, burst, cost }: RateLimit, now: number): number {
    const refusal = this.#refusals.get(bucket);
    if (refusal === undefined) return 0;
    const { limit, until } = refusal;
    const isSame = limit.perMs === perMs && limit.burst === burst && limit.cost === cost;
    // A longer wait than a whole refill means that the clock was set back.
    if (isSame && now < until && until - now <= burst * perMs) return waitUntil(until, now);
    this.#refusals.delete(bucket);
    return 0;
  }

  #remember(bucket: string, refusal: Refusal): void {
    this.#refusals.delete(bucket);
    this.#refusals.set(bucket, refusal);
    const [oldest] = this.#refusals.keys();
    if (this.#refusals.size > MAX_REFUSALS && oldest !== undefined) this.#refusals.delete(oldest);
  }
}

// The rounded difference of two large numbers can be slightly too small, and the wait must be enough.
function waitUntil(allowedAt: number, now: number): number {
  const waitMs = Math.ceil(allowedAt - now);
  return now + waitMs < allowedAt ? waitMs + 1 : waitMs;
}
