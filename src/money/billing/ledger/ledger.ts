import type { Money } from "../../../platform/lib/basics/money.ts";
import type { Store, StoredLedgerEntry } from "../../../platform/store/store.ts";
import { type ChargeRow, chargeRowsOf } from "./charge.ts";
import { creditReferenceOf } from "../accounts/credit.ts";

/** An entry of an account's ledger, as its readers see it. */
export interface AccountLedgerEntry {
  readonly id: string;
  /** Unix milliseconds. */
  readonly at: number;
  /** `credit`, `adjust`, `charge`, `hold`, `capture` or `release`. */
  readonly operation: string;
  /** The cause: the reference of a credit or an adjustment, a task's id, or the name of a group of charges. */
  readonly reference: string;
  /** The change of the available balance. */
  readonly available: Money;
  /** The change of the held balance. */
  readonly held: Money;
  /** The requests of a charge with their positive amounts, which add up to the charge. */
  readonly rows: readonly ChargeRow[];
  /** Further facts about an entry that is not a charge. */
  readonly detail: unknown;
}

/** One page of a ledger. */
export interface LedgerPage {
  /** The id of the entry to start after. */
  readonly after?: string;
  readonly limit: number;
  /** Newest first. */
  readonly reverse?: boolean;
}

/** Lists an account's ledger entries, oldest first. `next` is the `after` of the next page, or null. */
export async function listLedgerEntries(
  store: Store,
  account: string,
  page: LedgerPage,
): Promise<{ lines: AccountLedgerEntry[]; next: string | null }> {
  const entries = await store.ledger(account, { ...page, limit: page.limit + 1 });
  const lines = entries.slice(0, page.limit).map(accountEntryOf);
  return { lines, next: entries.length > page.limit ? lines.at(-1)?.id ?? null : null };
}

function accountEntryOf(entry: StoredLedgerEntry): AccountLedgerEntry {
  const { id, at, operation, account, available, held } = entry;
  const isGiven = operation === "credit" || operation === "adjust";
  const reference = isGiven ? creditReferenceOf(account, entry.reference) : entry.reference;
  const detail = operation === "charge" ? detailOfCharge(entry.detail) : entry.detail;
  return { id, at, operation, reference, available, held, rows: chargeRowsOf(entry), detail };
}

/** What a charge says besides its rows, such as the line of a batch; undefined for nothing. */
function detailOfCharge(detail: unknown): unknown {
  const { rows: _, ...rest } = detail as Readonly<Record<string, unknown>>;
  return Object.keys(rest).length === 0 ? undefined : rest;
}
