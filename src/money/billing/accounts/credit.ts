import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import { newSortableId } from "../../../platform/lib/basics/ids.ts";
import type { Money } from "../../../platform/lib/basics/money.ts";
import type { Commit, Store } from "../../../platform/store/store.ts";
import { isAccountId } from "./account_id.ts";
import { accountKey, creditKey, type CreditRecord, mergeCommits } from "./records.ts";
import { missingAccount } from "./missing_account.ts";

/** A payment into an account. */
export interface Credit {
  readonly account: string;
  /** Unique among the account's credits, forever. */
  readonly reference: string;
  /** Above zero. */
  readonly amount: Money;
}

const REFERENCE = /^[\x21-\x7e]{1,128}$/;
const MAX_ATTEMPTS = 8;

/** Whether a text is a valid reference: 1 to 128 visible ASCII characters. */
export function isCreditReference(text: string): boolean {
  return REFERENCE.test(text);
}

/** Adds a credit to a commit. The commit is refused as `conflict` if the account has a credit with this reference. */
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

/**
 * A ledger reference is unique over all accounts, a credit's only within its account. No account id contains a slash.
 */
function ledgerReferenceOf(account: string, reference: string): string {
  return `${account}/${reference}`;
}

/** The reference that a credit or an adjustment was given, from the reference of its ledger entry. */
export function creditReferenceOf(account: string, ledgerReference: string): string {
  const prefix = `${account}/`;
  return ledgerReference.startsWith(prefix) ? ledgerReference.slice(prefix.length) : ledgerReference;
}

/**
 * Credits an account. With a `reference` a repeat changes nothing, so a request whose response was lost can be sent
 * again. Without one a new reference is generated.
 *
 * @returns The reference, and whether this was a repeat.
 * @throws {GatewayError} `not_found` if there is no such account; `conflict` if the reference belongs to another
 * amount.
 * @throws {RangeError} If the amount is not above zero or the reference is invalid.
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
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const [owner, given] = isAccountId(account) ? await store.get(keys) : [null, null];
    if (!owner) throw await missingAccount(store, account);
    if (given) return replayOf(given.value as CreditRecord, amount, reference);
    const result = await store.commit(null, addCredit({}, { account, reference, amount }, store.now()));
    if (result.ok) return { reference, replayed: false };
  }
  throw new GatewayError("conflict", "Cannot credit the account: too many concurrent changes");
}

function replayOf(given: CreditRecord, amount: Money, reference: string): { reference: string; replayed: true } {
  if (given.amount === amount) return { reference, replayed: true };
  throw new GatewayError("conflict", "Cannot credit the account: the reference was used for another amount", {
    field: "reference",
  });
}
