import { readAccount } from "../../money/billing/accounts/account.ts";
import type { Authenticate } from "../../money/billing/authenticate.ts";
import { readKey } from "../../money/billing/keys/issued_key.ts";
import type { Credential } from "../../money/billing/keys/key_ring.ts";
import type { LedgerMeter } from "../../money/billing/meter/meter.ts";
import { isUnlimited, shownOverdraft } from "../../money/billing/accounts/unlimited_balance.ts";
import { CALLER_ENDPOINTS as ENDPOINTS } from "../../platform/endpoints/callers.ts";
import type { Handler, Route } from "../../platform/http/request/inbound.ts";
import { secondsOf } from "../../platform/lib/basics/clock.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import { writeMoney } from "../../platform/lib/basics/money.ts";
import { writeLimits } from "../../money/limits/limit_changes.ts";
import { writeLeft } from "../../money/limits/written_left.ts";
import type { Store } from "../../platform/store/store.ts";
import { routesAt } from "../route_at.ts";

/** The dependencies of the endpoints about a caller's own key. */
export interface KeyRouteParts {
  readonly store: Store;
  readonly authenticate: Authenticate;
  readonly meter: Pick<LedgerMeter, "limitsLeft" | "reserved" | "recall">;
}

/** `GET /v1/key` and `GET /v1/credits`. Source: docs/api/limits.md#own-limits-and-credits. */
export function keyRoutes(parts: KeyRouteParts): Route[] {
  const shown =
    (show: (credential: Credential, parts: KeyRouteParts) => Promise<JsonObject>): Handler => async (inbound) => {
      const body = await show(await parts.authenticate(inbound), parts);
      return Response.json(body, { headers: { "cache-control": "private, no-store" } });
    };
  return [
    ...routesAt(ENDPOINTS.readOwnKey, shown(showKey)),
    ...routesAt(ENDPOINTS.readOwnCredits, shown(showCredits)),
  ];
}

/** The key and its account with their limits. `metadata` is the operator's and is not shown. */
async function showKey(credential: Credential, { store, meter }: KeyRouteParts): Promise<JsonObject> {
  const { accountId, keyId, limits } = credential;
  const [key, account, left] = await Promise.all([
    readKey(store, accountId, keyId),
    readAccount(store, accountId),
    limits === null ? null : meter.limitsLeft(credential),
  ]);
  const now = store.now();
  return {
    object: "key",
    id: keyId,
    name: key.name ?? null,
    prefix: key.prefix,
    created_at: secondsOf(key.createdAt),
    expires_at: writeExpiry(key),
    limits: writeLimits(key.limits),
    left: writeLeft(left?.key, now),
    account: {
      id: accountId,
      name: account.name ?? null,
      expires_at: writeExpiry(account),
      limits: writeLimits(account.limits),
      left: writeLeft(left?.account, now),
    },
  };
}

function writeExpiry({ expiresAt }: { readonly expiresAt?: number }): number | null {
  return expiresAt === undefined ? null : secondsOf(expiresAt);
}

async function showCredits({ accountId }: Credential, { store, meter }: KeyRouteParts): Promise<JsonObject> {
  await meter.recall(accountId);
  const balance = await store.balance(accountId);
  return {
    object: "credits",
    account: accountId,
    balance: writeMoney(balance.available),
    held: writeMoney(balance.held),
    reserved: writeMoney(meter.reserved(accountId)),
    overdraft: writeMoney(shownOverdraft(balance)),
    unlimited: isUnlimited(balance),
  };
}
