import type { LimitedCaller } from "../../src/money/limits/limited_caller.ts";

/** A key of an account without limits. */
export function unlimitedKey(accountId: string, keyId = "key_1"): LimitedCaller {
  return { keyId, accountId, limits: null };
}
