import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import { newSortableId } from "../../../platform/lib/basics/ids.ts";
import { type Money, writeMoney } from "../../../platform/lib/basics/money.ts";
import type { Commit, Store } from "../../../platform/store/store.ts";
import { isAccountId } from "./account_id.ts";
import { isCreditReference } from "./credit.ts";
import { accountKey, adjustmentKey, type AdjustmentRecord, mergeCommits } from "./records.ts";
import { missingAccount } from "./missing_account.ts";

/** A correction of an account's balance by the operator, up or down. */
export interface Adjustment {
  /** The account's id. */
  readonly account: string;
  /** Added to the balance; a negative amount is subtracted. Not zero. */
  readonly amount: Money;
  /** The reason, for readers of the ledger; see {@linkcode isAdjustmentReason}. */
  readonly reason: string;
  /** Unique among the account's adjustments, forever. Default: generated. */
  readonly reference?: string;
  /** Whether the balance may fall below zero, and below the overdraft of the account. */
  readonly allowNegative?: boolean;
}

/** The result of an adjustment. */
export interface AdjustmentResult {
  readonly reference: string;
  /** Whether the reference had been used for this same adjustment, so that nothing was changed. */
  readonly replayed: boolean;
}

/** In UTF-16 code units. */
export const MAX_REASON_CHARACTERS = 500;
const MAX_ATTEMPTS = 8;

/** Whether a text is a valid reason: 1 to 500 characters, at least one visible, no control characters or line ends. */
export function isAdjustmentReason(text: string): boolean {
  return text.length <= MAX_REASON_CHARACTERS && text.trim() !== "" && text.isWellFormed() &&
    !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text);
}

/**
 * Adjusts an account and appends a ledger entry `adjust` with the reason. With a `reference` a repeat changes nothing,
 * so a request whose response was lost can be sent again.
 *
 * @throws {GatewayError} `not_found` if there is no such account; `conflict` if the reference belongs to another
 * adjustment, or if the balance would fall below its limit without `allowNegative`.
 * @throws {RangeError} If the amount is zero, or the reason or the reference is invalid.
 */
export async function adjustAccount(store: Store, adjustment: Adjustment): Promise<AdjustmentResult> {
  const { account, amount, reason, reference = `adjust_${newSortableId(store.now())}` } = adjustment;
  if (amount === 0n) throw new RangeError("Cannot adjust an account by zero");
  if (!isAdjustmentReason(reason)) throw new RangeError("Cannot adjust: expected a reason of 1 to 500 characters");
  if (!isCreditReference(reference)) throw new RangeError("Cannot adjust: expected a reference of visible characters");
  const keys = [accountKey(account), adjustmentKey(account, reference)];
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const [owner, given] = isAccountId(account) ? await store.get(keys) : [null, null];
    if (!owner) throw await missingAccount(store, account);
    if (given) return replayOf(given.value as AdjustmentRecord, adjustment, reference);
    const result = await store.commit(null, adjustmentCommit(adjustment, reference, store.now()));
    if (result.ok) return { reference, replayed: false };
    if (result.why === "short") throw await shortOf(store, adjustment);
  }
  throw new GatewayError("conflict", "Cannot adjust the account: too many concurrent changes");
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
    "Cannot adjust the account: the reference was used for another amount or reason",
    { field: "reference" },
  );
}

async function shortOf(store: Store, { account, amount }: Adjustment): Promise<GatewayError> {
  const { available, overdraft = 0n } = await store.balance(account);
  return new GatewayError(
    "conflict",
    `Cannot adjust the account by ${writeMoney(amount)}: its balance of ${writeMoney(available)} would fall below ` +
      `${overdraft === 0n ? "zero" : `its overdraft of ${writeMoney(overdraft)}`}, which allow_negative permits`,
    { field: "amount" },
  );
}
