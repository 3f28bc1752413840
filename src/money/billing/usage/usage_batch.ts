import { NO_USAGE, promptTokensOf } from "../../../conversation/neutral/usage.ts";
import type { Money } from "../../../platform/lib/basics/money.ts";
import type { Entry, Key, StoredLedgerEntry } from "../../../platform/store/store.ts";
import { type ChargeRow, chargeRowsOf } from "../ledger/charge.ts";
import {
  accountHeldKey,
  accountSpentOf,
  addSums,
  DAY_MS,
  keyHeldKey,
  keySpentOf,
  usageKey,
  type UsageRecord,
  type UsageSource,
  type UsageSums,
} from "./usage_records.ts";

/** The usage of one request. */
interface UsageItem extends UsageSource, UsageSums {
  /** Unix milliseconds: the end of a reply, or the capture for a video. */
  readonly at: number;
}

/** A change of one stored value. */
interface UsageChange {
  readonly key: Key;
  /** The value after the change. */
  readonly applyTo: (value: unknown) => unknown;
}

/** The sums of some ledger entries of one account, to be added to those that are stored. */
export class UsageBatch {
  readonly #rows = new Map<string, { readonly day: number; readonly source: UsageSource; sums: UsageSums }>();
  readonly #amounts = new Map<string, { readonly key: Key; amount: Money }>();

  /** The days whose records change. */
  readonly days = new Set<number>();

  constructor(private readonly account: string) {}

  /** The number of values that change, with the copies of days. */
  get size(): number {
    return this.#rows.size + this.#amounts.size + this.days.size;
  }

  /** Adds an entry. */
  add(entry: StoredLedgerEntry): void {
    for (const item of usageItemsOf(entry)) this.#addItem(item);
    // A charge of a line of a batch takes its part out of what the batch holds. Other charges hold nothing.
    this.#addHeld(entry);
  }

  /** The changes of stored values. Each must be made once. */
  changes(): UsageChange[] {
    const { account } = this;
    const rows = [...this.#rows.values()].map(({ day, source, sums }): UsageChange => ({
      key: usageKey(day, account, source),
      applyTo: (value) => ({ ...source, ...(value === null ? sums : addSums(value as UsageRecord, sums)) }),
    }));
    const amounts = [...this.#amounts.values()].map(({ key, amount }): UsageChange => ({
      key,
      applyTo: (value) => (value as Money | null ?? 0n) + amount,
    }));
    return [...rows, ...amounts];
  }

  #addItem({ at, key, model, provider, kind, cost, counts }: UsageItem): void {
    const day = Math.floor(at / DAY_MS);
    this.days.add(day);
    const name = JSON.stringify([day, key, model, provider, kind]);
    const sums = { cost, counts };
    const row = this.#rows.get(name);
    if (row) row.sums = addSums(row.sums, sums);
    else this.#rows.set(name, { day, source: { key, model, provider, kind }, sums });
    this.#addAmount([...accountSpentOf(this.account), day], cost);
    if (key !== null) this.#addAmount([...keySpentOf(this.account, key), day], cost);
  }

  #addHeld(entry: StoredLedgerEntry): void {
    if (entry.held === 0n) return;
    const key = keyOfDetail(entry);
    this.#addAmount(accountHeldKey(this.account), entry.held);
    if (key !== null) this.#addAmount(keyHeldKey(this.account, key), entry.held);
  }

  #addAmount(key: Key, amount: Money): void {
    const name = key.join(" ");
    const found = this.#amounts.get(name);
    if (found) found.amount += amount;
    else this.#amounts.set(name, { key, amount });
  }
}

/** The values after the changes of a batch, for a commit. */
export function changedValues(
  changes: readonly UsageChange[],
  found: readonly (Entry | null)[],
): { readonly key: Key; readonly value: unknown }[] {
  return changes.map(({ key, applyTo }, i) => ({ key, value: applyTo(found[i]?.value ?? null) }));
}

/** The usage that a ledger entry shows: that of charges and captures. Credits, adjustments and holds are no usage. */
function usageItemsOf(entry: StoredLedgerEntry): readonly UsageItem[] {
  if (entry.operation === "charge") return chargeRowsOf(entry).map(itemOfRow);
  return entry.operation === "capture" ? [itemOfCapture(entry)] : [];
}

function itemOfRow(
  { at, keyId: key, model, provider, kind, amount: cost, usage = {}, cacheSaved = 0n }: ChargeRow,
): UsageItem {
  const { cacheReadTokens = 0, cacheWrite5mTokens = 0, cacheWrite1hTokens = 0 } = usage;
  const counts = [
    1,
    usage.estimated ? 1 : 0,
    promptTokensOf({ ...NO_USAGE, ...usage }),
    cacheReadTokens,
    cacheWrite5mTokens + cacheWrite1hTokens,
    usage.outputTokens ?? 0,
    usage.reasoningTokens ?? 0,
    usage.imagesMade ?? 0,
    usage.webSearches ?? 0,
    ...cacheSaved === 0n ? [] : [0, Number(cacheSaved)],
  ];
  return { at, key, model, provider, kind, cost, counts };
}

/** The details of a capture; entries of earlier versions lack some. */
interface CaptureDetail {
  readonly key?: string;
  readonly model?: string;
  readonly provider?: string;
  readonly seconds?: number;
}

function itemOfCapture({ at, available, held, detail }: StoredLedgerEntry): UsageItem {
  const { key = null, model = "", provider = "", seconds = 0 } = (detail ?? {}) as CaptureDetail;
  const counts = [1, 0, 0, 0, 0, 0, 0, 0, 0, seconds];
  return { at, key, model, provider, kind: "video", cost: -(available + held), counts };
}

/** The key of the work that a ledger entry names in its details; null if it names none. */
function keyOfDetail({ detail }: StoredLedgerEntry): string | null {
  return (detail as { readonly key?: string } | null | undefined)?.key ?? null;
}
