import { type IssuedKey, listKeys } from "../../../money/billing/keys/issued_key.ts";
import { writeLimits } from "../../../money/limits/limit_changes.ts";
import { secondsOf } from "../../../platform/lib/basics/clock.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import type { Store } from "../../../platform/store/store.ts";

/** Reads the first keys of an account as they are shown, for the audit log. */
export async function shownKeys(store: Store, account: string): Promise<JsonObject[]> {
  return (await listKeys(store, account, { limit: MAX_SHOWN_KEYS })).keys.map(writeKey);
}

const MAX_SHOWN_KEYS = 100;

/** A key as the admin API shows it. */
export function writeKey(key: IssuedKey): JsonObject {
  const { id, account, name, prefix, createdAt, lastUsedAt, revokedAt, expiresAt, metadata, capture, limits } = key;
  return {
    id,
    account,
    name: name ?? null,
    prefix,
    created_at: secondsOf(createdAt),
    last_used_at: writeInstant(lastUsedAt),
    revoked_at: writeInstant(revokedAt),
    expires_at: writeInstant(expiresAt),
    ...writeLimits(limits),
    metadata: metadata ?? {},
    capture: capture ?? null,
    prompt_caching: key.promptCaching ?? null,
  };
}

function writeInstant(at: number | null | undefined): number | null {
  return at === null || at === undefined ? null : secondsOf(at);
}
