import { GatewayError } from "../lib/gateway_error.ts";
import { newSortableId } from "../lib/ids.ts";
import type { Money } from "../lib/money.ts";
import type { Commit, Store } from "../store/store.ts";
import { isAccountId } from "./account_id.ts";
import { accountKey, creditKey, type CreditRecord, mergeCommits } from "./records.ts";

/** Money that comes in. */
export interface Credit {
  readonly account: string;
  /** Names this credit among the account's own, for ever. */
  readonly reference: string;
  /** Above zero. */
  readonly amount: Money;
}

const REFERENCE = /^[\x21-\x7e]{1,128}$/;
const MOST_TRIES = 8;

/** Whether a text can name a credit: 1 to 128 visible ASCII characters. */
export function isCreditReference(text: string): boolean {
  return REFERENCE.test(text);
}

/** The commit with a credit in it; it conflicts when the account has a credit of that reference already. */
export function addCredit(commit: Commit, { account, reference, amount }: Credit, now: number): Commit {
  const key = creditKey(account, reference);
  return mergeCommits(commit, {
    check: [{ key, version: null }],
    set: [{ key, value: { amount, at: now } satisfies CreditRecord }],
    changeBalances: [{ account, available: amount, held: 0n }],
    ledgerEntries: [{
      account,
      operation: "credit",
      reference: ledgerReferenceOf(account, reference),
      available: amount,
      held: 0n,
    }],
  });
}

/** A ledger line's reference is unique over all accounts, a credit's only within its own. No account id has a slash. */
function ledgerReferenceOf(account: string, reference: string): string {
  return `${account}/${reference}`;
}

/** The reference of a credit, or of an adjustment, as it was given, from that of its ledger line. */
export function creditReferenceOf(account: string, ledgerReference: string): string {
  const prefix = `${account}/`;
  return ledgerReference.startsWith(prefix) ? ledgerReference.slice(prefix.length) : ledgerReference;
}

/**
 * Credits an account. With a `reference` a repeat changes nothing, so it may be made whenever the first answer was
 * lost; without one a new reference is made up.
 *
 * @returns The reference, and whether this was a repeat.
 * @throws {GatewayError} `not_found` when there is no such account, `conflict` when the reference stands for another
 * amount.
 * @throws {RangeError} If the amount is not above zero or the reference cannot be one.
 */
export async function creditAccount(
  store: Store,
  account: string,
  amount: Money,
  reference: string = `credit_${newSortableId(store.now())}`,
): Promise<{ reference: string; replayed: boolean }> {
  if (amount <= 0n) throw new RangeError(`Cannot credit an amount that is not above zero: got ${amount}`);
  if (!isCreditReference(reference)) throw new RangeError("Cannot credit: expected a reference of visible characters");
  const keys = [accountKey(account), creditKey(account, reference)];
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const [owner, given] = isAccountId(account) ? await store.get(keys) : [null, null];
    if (!owner) throw new GatewayError("not_found", "Cannot credit the account: no such account");
    if (given) return replayOf(given.value as CreditRecord, amount, reference);
    const result = await store.commit(null, addCredit({}, { account, reference, amount }, store.now()));
    if (result.ok) return { reference, replayed: false };
  }
  throw new GatewayError("conflict", "Cannot credit the account: others credited it at the same time");
}

function replayOf(given: CreditRecord, amount: Money, reference: string): { reference: string; replayed: true } {
  if (given.amount === amount) return { reference, replayed: true };
  throw new GatewayError("conflict", "Cannot credit the account: the reference stands for another amount", {
    field: "reference",
  });
}
