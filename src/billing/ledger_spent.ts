import type { Money } from "../lib/money.ts";
import type { Spent, SpentReader } from "../limits/spent_reader.ts";
import type { Store, StoredLedgerEntry } from "../store/store.ts";
import { chargeRowsOf } from "./charge.ts";

const PAGE = 500;

/** A {@linkcode SpentReader} that reads an account's whole ledger. The time grows with the ledger. */
export function ledgerSpentReader(store: Pick<Store, "ledger">): SpentReader {
  return async (accountId, keyId, since) => {
    let [charged, held] = [0n, 0n];
    let after: string | undefined;
    for (;;) {
      const entries = await store.ledger(accountId, { limit: PAGE, ...(after === undefined ? {} : { after }) });
      for (const entry of entries) {
        const spent = spentIn(entry, keyId, since);
        charged += spent.charged;
        held += spent.held;
      }
      after = entries.at(-1)?.id;
      if (entries.length < PAGE) return { charged, held };
    }
  };
}

/** A charge counts at its own time, and what a hold captures at the time of its capture. */
function spentIn(entry: StoredLedgerEntry, keyId: string | null, since: number): Spent {
  const { operation, at, available, held } = entry;
  if (operation === "charge") {
    const rows = chargeRowsOf(entry).filter((row) => row.at >= since && (keyId === null || row.keyId === keyId));
    return { charged: rows.reduce<Money>((sum, { amount }) => sum + amount, 0n), held: 0n };
  }
  if (!HOLD_OPERATIONS.has(operation) || (keyId !== null && keyOf(entry) !== keyId)) return { charged: 0n, held: 0n };
  return { charged: at >= since && operation === "capture" ? -(available + held) : 0n, held };
}

const HOLD_OPERATIONS: ReadonlySet<string> = new Set(["hold", "capture", "release"]);

function keyOf({ detail }: StoredLedgerEntry): unknown {
  return (detail as { readonly key?: unknown } | null | undefined)?.key;
}
