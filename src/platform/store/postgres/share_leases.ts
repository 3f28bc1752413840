import { encodeStorableKey } from "../key_encoding.ts";
import type { ShareDemand, ShareLeases } from "../share_leases.ts";
import type { Key } from "../store.ts";
import { StoreWriteError } from "../store_errors.ts";
import { bytesOf, read, reasonOf } from "./database.ts";
import { POSTGRES_LIMITS } from "./limits.ts";
import type { Readable } from "./read.ts";

/** How long a lease of a limit lasts. No reading of leases is used for longer. */
export const SHARE_DURATION_MS = 30_000;

/**
 * Leases of limits as rows of the database.
 *
 * @param readable The database and the time for a statement.
 * @param assertWritable Throws if this process must not write.
 */
export function postgresShareLeases(readable: () => Readable, assertWritable: () => void): ShareLeases {
  const holder = crypto.randomUUID();
  return {
    durationMs: SHARE_DURATION_MS,

    async lease(name: Key, demand: ShareDemand) {
      assertWritable();
      const { limit, refills, used, kept, wanted, hasSpare, since } = demand;
      const { sql, now } = readable();
      // Not repeated when its outcome is unknown, as it would count the used units twice.
      const [row] = await sql<{ leased: string; used: string; others: string }[]>`
        select leased::text, used::text, others::text from switchyard.lease_share_v1(
          ${nameOf(name)}, ${holder}, ${String(limit)}::text::numeric, ${refills}, ${String(used)}::text::numeric,
          ${String(kept)}::text::numeric, ${String(wanted)}::text::numeric, ${hasSpare},
          ${since?.version ?? null}::bigint, ${since?.at ?? null}::float8,
          coalesce(${now}::float8, switchyard.now_ms()), ${SHARE_DURATION_MS}::float8
        )`.catch((error) => {
        throw new StoreWriteError(new Error(reasonOf(error)));
      });
      return row ? { leased: BigInt(row.leased), used: Number(row.used), others: BigInt(row.others) } : null;
    },

    async read(name: Key) {
      const { sql, now } = readable();
      const [row] = await read(() =>
        sql<{ version: string; at: number; others: string }[]>`
          with present as (select coalesce(${now}::float8, switchyard.now_ms()) as at)
          select present.at, (
            select coalesce(max(l.version), 0) from switchyard.shared_limit l where l.name = ${nameOf(name)}
          )::text as version, (
            select coalesce(sum(s.amount), 0) from switchyard.share s
            where s.name = ${nameOf(name)} and s.holder <> ${holder} and s.expires_at > present.at
          )::text as others from present`
      );
      return { version: row?.version ?? "0", at: row?.at ?? 0, others: BigInt(row?.others ?? 0) };
    },
  };
}

function nameOf(name: Key): Uint8Array {
  const encoded = encodeStorableKey(name, POSTGRES_LIMITS.maxKeyBytes);
  if (encoded === null) throw new RangeError("Cannot lease a share: the name of the limit is too long");
  return bytesOf(encoded);
}
