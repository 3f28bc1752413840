import { secondsOf } from "../../platform/lib/basics/clock.ts";
import type { Holder } from "./holder.ts";
import type { Pass } from "./pass.ts";

/** How long before its expiry `key.expiring` is sent. */
const EXPIRING_MS = 7 * 86_400_000;

/** Until when a key, or an account with all its keys, is accepted. */
export interface Lifetime {
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly expiresAt: number;
}

/**
 * Sends `key.expiring` once for a key and its time of expiry. A key that was issued for less time than the notice is
 * meant to expire soon, and is left out.
 */
export async function checkExpiry(
  pass: Pass,
  { account, key, name }: Holder,
  { createdAt, expiresAt }: Lifetime,
): Promise<void> {
  const cause = [account, key ?? "", String(expiresAt)];
  const isSent = pass.causes["key.expiring"].keep(cause);
  const isSoon = expiresAt > pass.now && expiresAt - pass.now <= EXPIRING_MS;
  if (!isSoon || expiresAt - createdAt <= EXPIRING_MS) return;
  pass.summary.addExpiring({ account, key, name, expiresAt });
  if (isSent) return;
  const at = new Date(expiresAt).toISOString();
  await pass.announce({
    event: "key.expiring",
    cause,
    account,
    data: { account, key, name, expires_at: secondsOf(expiresAt) },
    logged: { ...key !== null && { keyId: key }, reason: `Expires at ${at}` },
  });
}
