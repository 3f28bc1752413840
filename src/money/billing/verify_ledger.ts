import { appendAll } from "../../platform/lib/collections/append_all.ts";
import { type IncompleteNote, incompleteNotes } from "../../platform/store/incomplete.ts";
import type { Balance, Store, StoredLedgerEntry } from "../../platform/store/store.ts";
import { chargeRowsOf, totalOf } from "./ledger/charge.ts";
import { allAccounts } from "./accounts/account.ts";
import { DAY_MS } from "./usage/usage_records.ts";
import { wrongCopies } from "./usage/verify_copies.ts";
import { usageDifferences } from "./usage/verify_usage.ts";

/** A contradiction between balances or usage and the ledger. */
export type LedgerDifference =
  /** The entries of an account do not add up to its balance. */
  | { readonly kind: "balance"; readonly account: string; readonly balance: Balance; readonly lines: Balance }
  /** The rows of a charge do not add up to its amount. */
  | { readonly kind: "rows"; readonly account: string; readonly line: string }
  /** Stored usage, by the names of its values, is not that of the ledger. */
  | { readonly kind: "usage"; readonly account: string; readonly values: readonly string[] }
  /** The copy of a day's usage, which reports read, is not that of its records. The day is `2026-01-31`, UTC. */
  | { readonly kind: "usage_copy"; readonly day: string }
  /** The store was opened without a part of it, so charges may be missing. */
  | ({ readonly kind: "incomplete" } & IncompleteNote)
  /** The balance or the usage changed too often to be compared with the entries of one instant. */
  | { readonly kind: "unsteady"; readonly account: string };

/** The result of a verification. */
export interface LedgerVerification {
  readonly accounts: number;
  readonly lines: number;
  readonly differences: readonly LedgerDifference[];
}

const PAGE = 500;
const MAX_PASSES = 20;

/**
 * Compares the sum of every account's ledger with its balance, and the stored usage with the ledger. It can run while
 * they change.
 */
export async function verifyLedger(store: Store): Promise<LedgerVerification> {
  let accounts = 0;
  let lines = 0;
  const notes = await incompleteNotes(store);
  const differences: LedgerDifference[] = notes.map((note) => ({ kind: "incomplete", ...note }));
  for await (const account of allAccounts(store)) {
    const sum = new LedgerSum(store, account);
    const balanceDifference = await compare(store, account, sum);
    accounts++;
    lines += sum.lines;
    appendAll(differences, sum.wrongLines.map((line) => ({ kind: "rows" as const, account, line })));
    if (balanceDifference) differences.push(balanceDifference);
    const values = await usageDifferences(store, account);
    if (values === null) differences.push({ kind: "unsteady", account });
    else if (values.length > 0) differences.push({ kind: "usage", account, values });
  }
  for (const day of await wrongCopies(store)) {
    differences.push({ kind: "usage_copy", day: new Date(day * DAY_MS).toISOString().slice(0, 10) });
  }
  return { accounts, lines, differences };
}

/** The balance belongs to the sum if no entry was added between the last one read and the read of the balance. */
async function compare(store: Store, account: string, sum: LedgerSum): Promise<LedgerDifference | null> {
  await sum.readMore();
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    const balance = await store.balance(account);
    if (await sum.readMore() > 0) continue;
    const lines = { available: sum.available, held: sum.held };
    if (lines.available === balance.available && lines.held === balance.held) return null;
    return { kind: "balance", account, balance, lines };
  }
  return { kind: "unsteady", account };
}

/** The sum of an account's entries up to the last one read. */
class LedgerSum {
  available = 0n;
  held = 0n;
  lines = 0;
  readonly wrongLines: string[] = [];
  #after: string | undefined;

  constructor(private readonly store: Store, private readonly account: string) {}

  /** Adds the entries since the last call. Returns their number. */
  async readMore(): Promise<number> {
    const linesBefore = this.lines;
    let page: StoredLedgerEntry[];
    do {
      page = await this.store.ledger(this.account, {
        ...(this.#after !== undefined && { after: this.#after }),
        limit: PAGE,
      });
      for (const entry of page) this.#add(entry);
    } while (page.length === PAGE);
    return this.lines - linesBefore;
  }

  #add(entry: StoredLedgerEntry): void {
    this.available += entry.available;
    this.held += entry.held;
    this.lines++;
    this.#after = entry.id;
    if (entry.operation === "charge" && totalOf(chargeRowsOf(entry)) !== -(entry.available + entry.held)) {
      this.wrongLines.push(entry.id);
    }
  }
}
