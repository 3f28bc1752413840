import { invalidField } from "../../../platform/lib/basics/gateway_error.ts";
import { MAX_MONEY, type Money } from "../../../platform/lib/basics/money.ts";
import type { Balance } from "../../../platform/store/store.ts";
import type { AccountChanges, BalanceKind } from "./key_settings.ts";

/** The word for a balance without a limit, in the configuration, the admin API and commands. */
export const UNLIMITED = "unlimited" satisfies BalanceKind;

/** The word that gives an account a limit again. */
export const PREPAID = "prepaid" satisfies BalanceKind;

/**
 * The overdraft of an account whose balance is not limited: a trillion USD, far above every overdraft that can be set.
 * So all that compares with the credit of an account needs no other rule: holds, leases, gateways of earlier versions.
 * Source: docs/decisions/0288-balances-without-a-limit.md.
 */
const UNLIMITED_OVERDRAFT: Money = 100_000n * MAX_MONEY;

/** Whether an account is charged whatever its balance is. */
export function isUnlimited({ overdraft = 0n }: Pick<Balance, "overdraft">): boolean {
  return overdraft >= UNLIMITED_OVERDRAFT;
}

/** How far a balance may fall below zero, as it is shown; zero if it is not limited. */
export function shownOverdraft({ overdraft = 0n }: Pick<Balance, "overdraft">): Money {
  return isUnlimited({ overdraft }) ? 0n : overdraft;
}

/**
 * The overdraft of an account after a change; null if it stays as it is. An amount ends a balance without a limit.
 *
 * @param before The overdraft as it is stored.
 * @throws {GatewayError} `invalid_request` naming `overdraft` if both a limit and none are set.
 */
export function changedOverdraft(before: Money, { balance, overdraft }: AccountChanges): Money | null {
  if (hasTwoLimits({ balance, overdraft })) throw invalidField("overdraft", `expected ${NO_OVERDRAFT}`);
  const after = afterChange(before, { balance, overdraft });
  return after === before ? null : after;
}

function afterChange(before: Money, { balance, overdraft }: AccountChanges): Money {
  if (balance === UNLIMITED) return UNLIMITED_OVERDRAFT;
  if (overdraft !== undefined) return overdraft ?? 0n;
  return balance === PREPAID ? shownOverdraft({ overdraft: before }) : before;
}

/** Whether settings have an overdraft although the balance has no limit. */
export function hasTwoLimits({ balance, overdraft = null }: AccountChanges): boolean {
  return balance === UNLIMITED && overdraft !== null;
}

/** What is expected in place of an overdraft that {@linkcode hasTwoLimits} finds. */
export const NO_OVERDRAFT = 'no overdraft, as the balance is "unlimited"';
