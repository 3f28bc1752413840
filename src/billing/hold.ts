import type { Money } from "../lib/money.ts";
import type { Commit, Store, Version } from "../store/store.ts";
import { holdKey, type HoldRecord, mergeCommits } from "./records.ts";

/**
 * Money set aside for work whose cost is known only at its end, such as a video. A hold is named by what it is for (a
 * task's id), begins `open` and ends once:
 *
 *   addHold      available → held; the commit is refused as `short` when that is more than is available
 *   captureHold  of held, the cost is spent and the rest becomes available again; a cost beyond the hold is taken from
 *                what is available, as far as the caller says that this reaches
 *   releaseHold  held → available
 *
 * These functions only add to a commit that someone else opened and will make, so a task and its hold stand or fall
 * together without knowing each other. Ending checks the version of the hold's record: of two that end one hold, one
 * commit is refused as `conflict`.
 */
export interface Hold extends HoldRecord {
  /** What it is for. */
  readonly reference: string;
  /** Of its record as it was read. */
  readonly version: Version;
}

/** A hold that is about to be made. */
export interface NewHold {
  readonly account: string;
  /** What it is for; no other hold may ever have had it. */
  readonly reference: string;
  readonly amount: Money;
  /** More about it for the ledger, small. */
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** A commit with a capture in it. */
export interface Capture {
  readonly commit: Commit;
  /** What is taken: the cost, but never more than the hold and what may be taken beyond it. */
  readonly captured: Money;
  /** What the cost exceeds that by, which nobody pays: to be logged. */
  readonly underpriced: Money;
}

/** A hold was to be ended that has ended: somebody did that between the reading of the work and of its hold. */
export class HoldEndedError extends Error {
  override readonly name = "HoldResolvedError";

  /**
   * @param reference What the hold was for.
   * @param state How it ended.
   */
  constructor(readonly reference: string, readonly state: HoldRecord["state"]) {
    super(`Cannot end the hold of "${reference}" again: it is ${state}`);
  }
}

/**
 * The commit with a new hold in it.
 *
 * @param now Unix milliseconds by the store's clock.
 * @throws {RangeError} If the amount is below zero.
 */
export function addHold(commit: Commit, { account, reference, amount, detail }: NewHold, now: number): Commit {
  if (amount < 0n) throw new RangeError(`Cannot hold an amount below zero: got ${amount}`);
  const key = holdKey(reference);
  const record: HoldRecord = { account, amount, state: "open", captured: 0n, openedAt: now, resolvedAt: null };
  const kept = mergeCommits(commit, { check: [{ key, version: null }], set: [{ key, value: record }] });
  return moved(kept, { account, operation: "hold", reference, available: -amount, held: amount, detail });
}

/** A hold as it stands, or null when none was ever made for this. */
export async function readHold(store: Store, reference: string): Promise<Hold | null> {
  const [entry] = await store.get<HoldRecord>([holdKey(reference)]);
  return entry ? { ...entry.value, reference, version: entry.version } : null;
}

/**
 * The commit with the end of a hold in it: `cost` is spent, the rest given back. What nobody pays stands as
 * `underpriced` on the ledger line.
 *
 * @param cost From zero.
 * @param now Unix milliseconds by the store's clock.
 * @param detail More about it for the ledger, small.
 * @param beyond What may be taken of the available balance when the cost exceeds the hold; the commit is refused as
 * `short` when it is not there.
 * @throws {HoldEndedError} If the hold has ended.
 * @throws {RangeError} If the cost or what may be taken is below zero.
 */
export function captureHold(
  commit: Commit,
  hold: Hold,
  cost: Money,
  now: number,
  detail: Readonly<Record<string, unknown>> = {},
  beyond: Money = 0n,
): Capture {
  if (cost < 0n) throw new RangeError(`Cannot capture an amount below zero: got ${cost}`);
  if (beyond < 0n) throw new RangeError(`Cannot take an amount below zero beyond a hold: got ${beyond}`);
  const most = hold.amount + beyond;
  const captured = cost < most ? cost : most;
  const underpriced = cost - captured;
  const ended = endOf(commit, hold, { state: "captured", captured, resolvedAt: now });
  const line = {
    account: hold.account,
    operation: "capture",
    reference: hold.reference,
    available: hold.amount - captured,
    held: -hold.amount,
    detail: underpriced > 0n ? { ...detail, underpriced } : detail,
  };
  return { commit: moved(ended, line), captured, underpriced };
}

/**
 * The commit with the end of a hold in it: everything is given back.
 *
 * @param now Unix milliseconds by the store's clock.
 * @param detail More about it for the ledger, small.
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
  return moved(ended, { account, operation: "release", reference, available: amount, held: -amount, detail });
}

/** The commit without the record of a hold that has ended, if there was one. Its ledger lines stay. */
export function deleteHold(commit: Commit, reference: string): Commit {
  return mergeCommits(commit, { delete: [holdKey(reference)] });
}

function endOf(commit: Commit, hold: Hold, end: Pick<HoldRecord, "state" | "captured" | "resolvedAt">): Commit {
  if (hold.state !== "open") throw new HoldEndedError(hold.reference, hold.state);
  const { reference, version, ...record } = hold;
  const key = holdKey(reference);
  return mergeCommits(commit, { check: [{ key, version }], set: [{ key, value: { ...record, ...end } }] });
}

/** The movement and its ledger line. A hold of nothing, for a model that is free, moves nothing and has no line. */
function moved(commit: Commit, line: NonNullable<Commit["ledgerEntries"]>[number]): Commit {
  const { account, available, held } = line;
  return available === 0n && held === 0n
    ? commit
    : mergeCommits(commit, { changeBalances: [{ account, available, held }], ledgerEntries: [line] });
}
