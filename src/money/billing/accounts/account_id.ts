const ACCOUNT_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** What {@linkcode isAccountId} expects; continues a message after "expected". */
export const ACCOUNT_ID_EXPECTATION = "1 to 64 of letters, digits, dot, underscore and hyphen";

/**
 * Whether a text is an account id: 1 to 64 of `A-Z a-z 0-9 . _ -`, so that it needs no escaping in a path, a log or a
 * ledger reference. `.` and `..` are refused because URL paths drop them.
 */
export function isAccountId(text: string): boolean {
  return ACCOUNT_ID.test(text) && text !== "." && text !== "..";
}
