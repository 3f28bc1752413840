const ACCOUNT_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** What {@linkcode isAccountId} expects, in words that read on from "expected". */
export const ACCOUNT_ID_EXPECTATION = "1 to 64 of letters, digits, dot, underscore and hyphen";

/**
 * Whether a text can name an account: 1 to 64 of `A-Z a-z 0-9 . _ -`, so that it stands in a path, a log and a ledger
 * reference as it is. `.` and `..` cannot, as a path would lose them.
 */
export function isAccountId(text: string): boolean {
  return ACCOUNT_ID.test(text) && text !== "." && text !== "..";
}
