import type { Store } from "../../../platform/store/store.ts";
import { hashOfKey } from "../keys/api_key.ts";
import type { ConfiguredAccount } from "./configured_accounts.ts";
import type { KeyRing } from "../keys/key_ring.ts";
import { keyOwnerKey, type KeyOwnerRecord } from "../accounts/records.ts";

/** A configured key that belongs to another account. */
export interface ForeignKey {
  /** The index of the account in the configuration. */
  readonly account: number;
  /** The index of the key in the account. */
  readonly key: number;
  /** The id of the account that has the key. */
  readonly owner: string;
}

/** Finds configured keys that belong to another account. */
export async function foreignKeysOf(
  store: Pick<Store, "get">,
  accounts: readonly ConfiguredAccount[],
): Promise<ForeignKey[]> {
  const foreign: ForeignKey[] = [];
  for (const [account, { id, keys }] of accounts.entries()) {
    for (const [key, each] of keys.entries()) {
      const owner = await ownerOf(store, secretOf(each));
      if (owner !== null && owner.account !== id) foreign.push({ account, key, owner: owner.account });
    }
  }
  return foreign;
}

/**
 * Revokes the keys that one configuration declares and the next does not. Keys that were issued otherwise stay, and so
 * does the account.
 *
 * @returns The public ids of the revoked keys.
 */
export async function revokeDroppedKeys(
  keys: Pick<KeyRing, "revoke">,
  store: Pick<Store, "get">,
  { before, after }: { readonly before: readonly ConfiguredAccount[]; readonly after: readonly ConfiguredAccount[] },
): Promise<string[]> {
  const declared = new Set(after.flatMap((account) => account.keys.map(secretOf)));
  const revoked: string[] = [];
  for (const { id, keys: own } of before) {
    for (const secret of own.map(secretOf)) {
      const owner = declared.has(secret) ? null : await ownerOf(store, secret);
      if (owner?.account !== id) continue;
      await keys.revoke(id, owner.id);
      revoked.push(owner.id);
    }
  }
  return revoked;
}

function secretOf(key: ConfiguredAccount["keys"][number]): string {
  return typeof key === "string" ? key : key.secret;
}

async function ownerOf(store: Pick<Store, "get">, secret: string): Promise<KeyOwnerRecord | null> {
  const [owner] = await store.get<KeyOwnerRecord>([keyOwnerKey(hashOfKey(secret))]);
  return owner?.value ?? null;
}
