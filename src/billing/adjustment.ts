import { GatewayError } from "../lib/gateway_error.ts";
import { newSortableId } from "../lib/ids.ts";
import { type Money, writeMoney } from "../lib/money.ts";
import type { Commit, Store } from "../store/store.ts";
import { isAccountId } from "./account_id.ts";
import { isCreditReference } from "./credit.ts";
import { accountKey, adjustmentKey, type AdjustmentRecord, mergeCommits } from "./records.ts";

/** A correction of an account's balance by the operator, up or down. */
export interface Adjustment {
  /** The account's id. */
  readonly account: string;
  /** Added to the balance; negative takes away. Not zero. */
  readonly amount: Money;
  /** Why, for whoever reads the ledger; see {@linkcode isAdjustmentReason}. */
  readonly reason: string;
  /** Names this adjustment among the account's own, for ever. Default: made up. */
  readonly reference?: string;
  /** Whether the balance may fall below zero. */
  readonly allowNegative?: boolean;
}

/** What an adjustment did. */
export interface AdjustmentResult {
  readonly reference: string;
  /** True when the reference had been used for this very adjustment, so that nothing was changed. */
  readonly replayed: boolean;
}

/** The longest reason, in UTF-16 code units. */
export const MAX_REASON_CHARACTERS = 500;
const MAX_TRIES = 8;

/**
 * Whether a text can be a reason: 1 to 500 characters, something visible among them, no control character or line end.
 */
export function isAdjustmentReason(text: string): boolean {
  return text.length <= MAX_REASON_CHARACTERS && text.trim() !== "" && text.isWellFormed() &&
    !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text);
}

/**
 * Adjusts an account, with a ledger line `adjust` that keeps the reason. With a `reference` a repeat changes nothing,
 * so it may be made whenever the first answer was lost.
 *
 * @throws {GatewayError} `not_found` when there is no such account; `conflict` when the reference stands for another
 * adjustment, or when the balance would fall below zero without `allowNegative`.
 * @throws {RangeError} If the amount is zero, or the reason or the reference cannot be one.
 */
export async function adjustAccount(store: Store, adjustment: Adjustment): Promise<AdjustmentResult> {
  const { account, amount, reason, reference = `adjust_${newSortableId(store.now())}` } = adjustment;
  if (amount === 0n) throw new RangeError("Cannot adjust an account by nothing");
  if (!isAdjustmentReason(reason)) throw new RangeError("Cannot adjust: expected a reason of 1 to 500 characters");
  if (!isCreditReference(reference)) throw new RangeError("Cannot adjust: expected a reference of visible characters");
  const keys = [accountKey(account), adjustmentKey(account, reference)];
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const [owner, given] = isAccountId(account) ? await store.get(keys) : [null, null];
    if (!owner) throw new GatewayError("not_found", "Cannot adjust the account: no such account");
    if (given) return replayOf(given.value as AdjustmentRecord, adjustment, reference);
    const result = await store.commit(null, adjustmentCommit(adjustment, reference, store.now()));
    if (result.ok) return { reference, replayed: false };
    if (result.why === "short") throw await shortOf(store, adjustment);
  }
  throw new GatewayError("conflict", "Cannot adjust the account: others adjusted it at the same time");
}

function adjustmentCommit(
  { account, amount, reason, allowNegative = false }: Adjustment,
  reference: string,
  now: number,
): Commit {
  const key = adjustmentKey(account, reference);
  const record: AdjustmentRecord = { amount, reason, at: now };
  return mergeCommits({}, {
    check: [{ key, version: null }],
    set: [{ key, value: record }],
    changeBalances: [{ account, available: amount, held: 0n, overdraw: allowNegative }],
    ledgerEntries: [{
      account,
      operation: "adjust",
      reference: `${account}/${reference}`, // unique over all accounts; no account id has a slash
      available: amount,
      held: 0n,
      detail: { reason },
    }],
  });
}

function replayOf(given: AdjustmentRecord, { amount, reason }: Adjustment, reference: string): AdjustmentResult {
  if (given.amount === amount && given.reason === reason) return { reference, replayed: true };
  throw new GatewayError(
    "conflict",
    "Cannot adjust the account: the reference stands for an adjustment of another amount or reason",
    { field: "reference" },
  );
}

async function shortOf(store: Store, { account, amount }: Adjustment): Promise<GatewayError> {
  const { available } = await store.balance(account);
  return new GatewayError(
    "conflict",
    `Cannot adjust the account by ${writeMoney(amount)}: its balance of ${writeMoney(available)} would fall below ` +
      "zero, which allow_negative permits",
    { field: "amount" },
  );
}
