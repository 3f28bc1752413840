import { encodeStorableKey } from "../key_encoding.ts";
import type { LeaseDemand, MoneyLeases, SharedBalance } from "../money_leases.ts";
import { StoreWriteError } from "../store_errors.ts";
import { bytesOf, read, reasonOf, repeated } from "./database.ts";
import { POSTGRES_LIMITS } from "./limits.ts";
import type { Readable } from "./read.ts";

const DURATION_MS = 30_000;
const NOTHING: SharedBalance = { available: 0n, overdraft: 0n, others: 0n };

interface BalanceRow {
  readonly available: string;
  readonly overdraft: string;
  readonly others: string;
}

/**
 * Leases of money as rows of the database.
 *
 * @param readable The database and the time for a statement.
 * @param assertWritable Throws if this process must not write.
 */
export function postgresMoneyLeases(readable: () => Readable, assertWritable: () => void): MoneyLeases {
  const holder = crypto.randomUUID();
  return {
    durationMs: DURATION_MS,

    async lease(account: string, { kept, wanted, hasSpare }: LeaseDemand) {
      assertWritable();
      const name = nameOf(account);
      if (name === null) return { ...NOTHING, leased: 0n };
      const { sql, now } = readable();
      const [row] = await repeated(() =>
        sql<(BalanceRow & { readonly leased: string })[]>`
          select leased::text, available::text, overdraft::text, others::text from switchyard.lease_money_v1(
            ${name}, ${holder}, ${String(kept)}::text::numeric, ${String(wanted)}::text::numeric, ${hasSpare},
            coalesce(${now}::float8, switchyard.now_ms()), ${DURATION_MS}::float8
          )`
      ).catch((error) => {
        throw new StoreWriteError(new Error(reasonOf(error)));
      });
      return row ? { ...balanceOf(row), leased: BigInt(row.leased) } : { ...NOTHING, leased: 0n };
    },

    async read(account: string) {
      const name = nameOf(account);
      if (name === null) return NOTHING;
      const { sql, now } = readable();
      const [row] = await read(() =>
        sql<BalanceRow[]>`
          select a.available::text, a.overdraft::text, (
            select coalesce(sum(l.amount), 0) from switchyard.lease l
            where l.account = a.name and l.holder <> ${holder}
              and l.expires_at > coalesce(${now}::float8, switchyard.now_ms())
          )::text as others
          from switchyard.account a where a.name = ${name}`
      );
      return row ? balanceOf(row) : NOTHING;
    },
  };
}

function nameOf(account: string): Uint8Array | null {
  const name = encodeStorableKey([account], POSTGRES_LIMITS.maxKeyBytes);
  return name === null ? null : bytesOf(name);
}

function balanceOf({ available, overdraft, others }: BalanceRow): SharedBalance {
  return { available: BigInt(available), overdraft: BigInt(overdraft), others: BigInt(others) };
}
