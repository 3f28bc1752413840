import type { Money } from "../lib/money.ts";
import type { Store, StoredLedgerEntry } from "../store/store.ts";
import { type ChargeRow, chargeRowsOf } from "./charge.ts";
import { creditReferenceOf } from "./credit.ts";

/** A line of an account's ledger as its readers see it. */
export interface AccountLedgerEntry {
  readonly id: string;
  /** Unix milliseconds. */
  readonly at: number;
  /** `credit`, `adjust`, `charge`, `hold`, `capture`, `release`. */
  readonly operation: string;
  /** What caused it: the reference of a credit or an adjustment, a task's id; of a charge the name of its group. */
  readonly reference: string;
  /** What it added to `available` (negative: took away). */
  readonly available: Money;
  /** What it added to `held`. */
  readonly held: Money;
  /** The requests of a charge, each with its own amount, which is positive; they add up to what was taken. */
  readonly rows: readonly ChargeRow[];
  /** What was said about a line that is not a charge. */
  readonly detail: unknown;
}

/** Where to begin in a ledger, and how much of it to give. */
export interface LedgerPage {
  /** The id of a line: start behind it. */
  readonly after?: string;
  readonly limit: number;
  /** Newest first. */
  readonly reverse?: boolean;
}

/** Lines of an account's ledger, oldest first. `next` is what to pass as `after` for more, or null. */
export async function listLedgerEntries(
  store: Store,
  account: string,
  page: LedgerPage,
): Promise<{ lines: AccountLedgerEntry[]; next: string | null }> {
  const entries = await store.ledger(account, { ...page, limit: page.limit + 1 });
  const lines = entries.slice(0, page.limit).map(lineOf);
  return { lines, next: entries.length > page.limit ? lines[lines.length - 1].id : null };
}

function lineOf(entry: StoredLedgerEntry): AccountLedgerEntry {
  const { id, at, operation, account, available, held } = entry;
  const isGiven = operation === "credit" || operation === "adjust";
  const reference = isGiven ? creditReferenceOf(account, entry.reference) : entry.reference;
  const detail = operation === "charge" ? undefined : entry.detail;
  return { id, at, operation, reference, available, held, rows: chargeRowsOf(entry), detail };
}
