import type { Money } from "../../platform/lib/basics/money.ts";
import type { Commit, LedgerEntry, Store, Version } from "../../platform/store/store.ts";
import { type ChargeRow, writeRow } from "./ledger/charge.ts";
import { holdKey, type HoldRecord, mergeCommits } from "./accounts/records.ts";

/**
 * Money reserved for work whose cost is known only at its end, such as a video. A hold is named after its work (a
 * task's id), starts `open` and ends once:
 *
 * - `addHold`: available → held. The commit is refused as `short` if less is available.
 * - `captureHold`: the cost is taken from the held amount and the rest becomes available again. A cost above the hold
 *   is taken from the available balance, up to a limit of the caller.
 * - `releaseHold`: held → available.
 *
 * These functions add to a commit that the caller makes, so a task and its hold are written together. The end of a hold
 * checks the version of its record: of two commits that end one hold, one is refused as `conflict`.
 */
export interface Hold extends HoldRecord {
  /** The id of the work. */
  readonly reference: string;
  /** The version of its record as it was read. */
  readonly version: Version;
}

/** A hold to be added. */
export interface NewHold {
  readonly account: string;
  /** The id of the work; no other hold may ever have had it. */
  readonly reference: string;
  readonly amount: Money;
  /** Further facts for the ledger, small. */
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** A commit with a capture. */
export interface Capture {
  readonly commit: Commit;
  /** The amount taken: the cost, but at most the hold and the limit above it. */
  readonly captured: Money;
  /** The part of the cost that is not charged; to be logged. */
  readonly underpriced: Money;
}

/** The hold has ended already, between the reads of the work and of its hold. */
export class HoldEndedError extends Error {
  override readonly name = "HoldResolvedError";

  /**
   * @param reference The id of the work.
   * @param state How the hold ended.
   */
  constructor(readonly reference: string, readonly state: HoldRecord["state"]) {
    super(`Cannot end the hold of "${reference}" again: it is ${state}`);
  }
}

/**
 * Adds a new hold to a commit.
 *
 * @param now Unix milliseconds by the store's clock.
 * @throws {RangeError} If the amount is below zero.
 */
export function addHold(commit: Commit, { account, reference, amount, detail }: NewHold, now: number): Commit {
  if (amount < 0n) throw new RangeError(`Cannot hold an amount below zero: got ${amount}`);
  const key = holdKey(reference);
  const record: HoldRecord = { account, amount, state: "open", captured: 0n, openedAt: now, resolvedAt: null };
  const kept = mergeCommits(commit, { check: [{ key, version: null }], set: [{ key, value: record }] });
  return withLedgerEntry(kept, {
    account,
    operation: "hold",
    reference,
    available: -amount,
    held: amount,
    ...(detail && { detail }),
  });
}

/** Reads a hold; null if there never was one with this reference. */
export async function readHold(store: Store, reference: string): Promise<Hold | null> {
  const [entry] = await store.get<HoldRecord>([holdKey(reference)]);
  return entry ? { ...entry.value, reference, version: entry.version } : null;
}

/**
 * Adds the end of a hold to a commit: the cost is taken and the rest released. The ledger entry has the part that is
 * not charged as `underpriced`.
 *
 * @param cost At least zero.
 * @param now Unix milliseconds by the store's clock.
 * @param detail Further facts for the ledger, small.
 * @param maxAboveHold The most that may be taken from the available balance when the cost exceeds the hold. The commit
 * is refused as `short` if it is not available.
 * @throws {HoldEndedError} If the hold has ended.
 * @throws {RangeError} If the cost or `maxAboveHold` is below zero.
 */
export function captureHold(
  commit: Commit,
  hold: Hold,
  cost: Money,
  now: number,
  detail: Readonly<Record<string, unknown>> = {},
  maxAboveHold: Money = 0n,
): Capture {
  if (cost < 0n) throw new RangeError(`Cannot capture an amount below zero: got ${cost}`);
  if (maxAboveHold < 0n) throw new RangeError(`Cannot take an amount below zero above a hold: got ${maxAboveHold}`);
  const maxAmount = hold.amount + maxAboveHold;
  const captured = cost < maxAmount ? cost : maxAmount;
  const underpriced = cost - captured;
  const ended = endOf(commit, hold, { state: "captured", captured, resolvedAt: now });
  const entry = {
    account: hold.account,
    operation: "capture",
    reference: hold.reference,
    available: hold.amount - captured,
    held: -hold.amount,
    detail: underpriced > 0n ? { ...detail, underpriced } : detail,
  };
  return { commit: withLedgerEntry(ended, entry), captured, underpriced };
}

/**
 * Adds the end of a hold to a commit: everything is released.
 *
 * @param now Unix milliseconds by the store's clock.
 * @param detail Further facts for the ledger, small.
 * @throws {HoldEndedError} If the hold has ended.
 */
export function releaseHold(
  commit: Commit,
  hold: Hold,
  now: number,
  detail: Readonly<Record<string, unknown>> = {},
): Commit {
  const ended = endOf(commit, hold, { state: "released", captured: 0n, resolvedAt: now });
  const { account, reference, amount } = hold;
  return withLedgerEntry(ended, { account, operation: "release", reference, available: amount, held: -amount, detail });
}

/** One piece of the work of a hold, such as a line of a batch. */
export interface HoldDraw {
  /** Unique forever among the pieces of all work: that of its ledger entry. */
  readonly reference: string;
  /** The part of the hold that was for this piece. It leaves the hold, whatever the piece cost. */
  readonly part: Money;
  /** What the piece cost; null for nothing. A cost above the part is taken from the available balance. */
  readonly row: ChargeRow | null;
  /** Further facts for the ledger, small. */
  readonly detail: Readonly<Record<string, unknown>>;
}

/**
 * Adds the ends of several pieces of work to a commit. Each leaves the open hold with its own ledger entry: a `charge`
 * with its request, or a `release` if it cost nothing.
 *
 * @returns The commit, and the hold as the commit leaves it, without its new version.
 * @throws {HoldEndedError} If the hold has ended.
 * @throws {RangeError} If the parts exceed the hold.
 */
export function drawFromHold(
  commit: Commit,
  hold: Hold,
  draws: readonly HoldDraw[],
): { readonly commit: Commit; readonly left: Omit<Hold, "version"> } {
  if (hold.state !== "open") throw new HoldEndedError(hold.reference, hold.state);
  const { reference, version, account, ...record } = hold;
  const parts = draws.reduce((sum, { part }) => sum + part, 0n);
  const costs = draws.reduce((sum, { row }) => sum + (row?.amount ?? 0n), 0n);
  if (parts > hold.amount) throw new RangeError(`Cannot take ${parts} out of a hold of ${hold.amount}`);
  const after: HoldRecord = { ...record, account, amount: hold.amount - parts, captured: hold.captured + costs };
  const entries = draws.flatMap(({ reference, part, row, detail }): LedgerEntry[] => {
    const cost = row?.amount ?? 0n;
    if (part === 0n && cost === 0n) return [];
    const shared = { account, reference, available: part - cost, held: -part };
    return row === null || cost === 0n
      ? [{ ...shared, operation: "release", detail }]
      : [{ ...shared, operation: "charge", detail: { ...detail, rows: `[${writeRow(row)}]` } }];
  });
  const key = holdKey(reference);
  const drawn = mergeCommits(commit, {
    check: [{ key, version }],
    set: [{ key, value: after }],
    ...entries.length > 0 && {
      // The work is done already, so a cost above its part is taken without a limit, as that of a request.
      changeBalances: [{ account, available: parts - costs, held: -parts, overdraw: true }],
      ledgerEntries: entries,
    },
  });
  return { commit: drawn, left: { ...after, reference } };
}

/** A piece of the work of a hold that gets a hold of its own. */
export interface HoldSplit {
  /** The part of the hold that was for this piece. It leaves the hold. */
  readonly part: Money;
  /** The hold of the piece, of the same account: at most the part. */
  readonly into: Pick<NewHold, "reference" | "amount">;
  /** The reference of the ledger entry of what is released. */
  readonly entry: string;
  /** Unix milliseconds by the store's clock. */
  readonly now: number;
  /** Further facts for the ledger, small. */
  readonly detail: Readonly<Record<string, unknown>>;
}

/**
 * Adds to a commit that a piece of work takes its part of an open hold over into a hold of its own. What it does not
 * need is released. The rest only moves: it is held once before and once after, and the ledger has no entry for it.
 *
 * @returns The commit, and the hold as the commit leaves it, without its new version.
 * @throws {HoldEndedError} If the hold has ended.
 * @throws {RangeError} If the part exceeds the hold, or the new hold the part.
 */
export function splitHold(
  commit: Commit,
  hold: Hold,
  { part, into: { reference: newReference, amount }, entry, detail, now }: HoldSplit,
): { readonly commit: Commit; readonly left: Omit<Hold, "version"> } {
  if (amount < 0n || amount > part) throw new RangeError(`Cannot hold ${amount} of a part of ${part}`);
  const draw = { reference: entry, part: part - amount, row: null, detail };
  const released = drawFromHold(commit, { ...hold, amount: hold.amount - amount }, [draw]);
  const key = holdKey(newReference);
  const { account } = hold;
  const record: HoldRecord = { account, amount, state: "open", captured: 0n, openedAt: now, resolvedAt: null };
  const added = { check: [{ key, version: null }], set: [{ key, value: record }] };
  return { commit: mergeCommits(released.commit, added), left: released.left };
}

/**
 * Adds the end of a hold to a commit, of which {@linkcode drawFromHold} took all that was charged: the rest is
 * released.
 *
 * @param now Unix milliseconds by the store's clock.
 * @param detail Further facts for the ledger, small.
 * @throws {HoldEndedError} If the hold has ended.
 */
export function closeHold(
  commit: Commit,
  hold: Hold,
  now: number,
  detail: Readonly<Record<string, unknown>> = {},
): Commit {
  const state = hold.captured > 0n ? "captured" : "released";
  const ended = endOf(commit, hold, { state, captured: hold.captured, resolvedAt: now });
  const { account, reference, amount } = hold;
  return withLedgerEntry(ended, { account, operation: "release", reference, available: amount, held: -amount, detail });
}

/** Adds the removal of an ended hold's record, if any, to a commit. Its ledger entries are kept. */
export function deleteHold(commit: Commit, reference: string): Commit {
  return mergeCommits(commit, { delete: [holdKey(reference)] });
}

function endOf(commit: Commit, hold: Hold, end: Pick<HoldRecord, "state" | "captured" | "resolvedAt">): Commit {
  if (hold.state !== "open") throw new HoldEndedError(hold.reference, hold.state);
  const { reference, version, ...record } = hold;
  const key = holdKey(reference);
  return mergeCommits(commit, { check: [{ key, version }], set: [{ key, value: { ...record, ...end } }] });
}

/** Adds a balance change and its ledger entry. A hold of zero, for a free model, has neither. */
function withLedgerEntry(commit: Commit, entry: LedgerEntry): Commit {
  const { account, available, held } = entry;
  return available === 0n && held === 0n
    ? commit
    : mergeCommits(commit, { changeBalances: [{ account, available, held }], ledgerEntries: [entry] });
}
