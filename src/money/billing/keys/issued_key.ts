import { isDeepStrictEqual } from "node:util";
import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import { newSortableId } from "../../../platform/lib/basics/ids.ts";
import { entriesBelow } from "../../../platform/store/entries_below.ts";
import type { Commit, Store } from "../../../platform/store/store.ts";
import { refuseErased } from "../accounts/account.ts";
import { hashOfKey, newApiKey, visiblePrefixOf } from "./api_key.ts";
import { changedSettings, type KeyChanges } from "../accounts/key_settings.ts";
import { updateRecord } from "../accounts/update_record.ts";
import {
  accountKey,
  type AccountRecord,
  keyKey,
  keyOwnerKey,
  type KeyOwnerRecord,
  type KeyRecord,
  KEYS,
  keysOf,
  mergeCommits,
} from "../accounts/records.ts";
import { missingAccount } from "../accounts/missing_account.ts";

/** The facts about a key that can be shown after it was issued. */
export type IssuedKey = Omit<KeyRecord, "hash">;

/** A new key with its secret. */
export interface NewKey {
  readonly key: IssuedKey;
  /** Not stored and not shown again. */
  readonly secret: string;
}

const SCAN_PAGE = 100;

const KEY_ID = /^key_[0-9a-f]{28}$/;

/**
 * Issues a new key to an account.
 *
 * @param settings Default: none.
 * @throws {GatewayError} `not_found` if there is no such account; `conflict` if it was erased; `invalid_request` for a
 * key that would be expired.
 */
export async function issueKey(store: Store, account: string, settings: KeyChanges = {}): Promise<NewKey> {
  const [owner] = await store.get<AccountRecord>([accountKey(account)]);
  if (!owner) throw await missingAccount(store, account);
  refuseErased(owner.value);
  refusePast(settings.expires_at, store.now());
  const secret = newApiKey();
  const record = keyRecordOf(secret, account, store.now(), settings);
  const result = await store.commit(null, addKey({}, record));
  if (!result.ok) throw new Error(`Cannot store a new key: ${result.why}`);
  return { key: withoutHash(record), secret };
}

function refusePast(expiresAt: KeyChanges["expires_at"], now: number): void {
  if (expiresAt == null || expiresAt > now) return;
  const shown = new Date(expiresAt).toISOString();
  throw new GatewayError("invalid_request", `Cannot read "expires_at": expected a time to come, got ${shown}`, {
    field: "expires_at",
  });
}

/** The keys of all accounts, in the order of the accounts. */
export async function* scanAllKeys(store: Store): AsyncGenerator<IssuedKey> {
  for await (const { value } of entriesBelow<KeyRecord>(store, KEYS, { limit: SCAN_PAGE })) yield withoutHash(value);
}

/** The record of a new secret. */
export function keyRecordOf(secret: string, account: string, now: number, settings: KeyChanges = {}): KeyRecord {
  return {
    id: `key_${newSortableId(now)}`,
    account,
    hash: hashOfKey(secret),
    prefix: visiblePrefixOf(secret),
    createdAt: now,
    lastUsedAt: null,
    revokedAt: null,
    ...changedSettings({}, settings),
  };
}

/** Adds a new key to a commit. The commit is refused as `conflict` if the secret is a key already. */
export function addKey(commit: Commit, record: KeyRecord): Commit {
  const owner = keyOwnerKey(record.hash);
  return mergeCommits(commit, {
    check: [{ key: owner, version: null }],
    set: [
      { key: owner, value: { account: record.account, id: record.id } satisfies KeyOwnerRecord },
      { key: keyKey(record.account, record.id), value: record },
    ],
  });
}

/**
 * Lists an account's keys, oldest first unless `reverse`, revoked ones included. `next` is the `after` of the next
 * page, or null.
 */
export async function listKeys(
  store: Store,
  account: string,
  page: { readonly after?: string; readonly limit: number; readonly reverse?: boolean },
): Promise<{ keys: IssuedKey[]; next: string | null }> {
  const after = page.after === undefined ? {} : { after: keyKey(account, page.after) };
  const entries = await store.scan<KeyRecord>(keysOf(account), {
    ...after,
    limit: page.limit + 1,
    reverse: page.reverse ?? false,
  });
  const keys = entries.slice(0, page.limit).map((entry) => withoutHash(entry.value));
  return { keys, next: entries.length > page.limit ? keys.at(-1)?.id ?? null : null };
}

/**
 * Reads a key; revoked ones too.
 *
 * @throws {GatewayError} `not_found` if the account has no such key.
 */
export async function readKey(store: Store, account: string, id: string): Promise<IssuedKey> {
  const [entry] = KEY_ID.test(id) ? await store.get<KeyRecord>([keyKey(account, id)]) : [null];
  if (!entry) throw new GatewayError("not_found", "Cannot find the key: no such key");
  return withoutHash(entry.value);
}

/** Whether a secret is one of an API key; also of a revoked one. */
export async function isApiKey(store: Store, secret: string): Promise<boolean> {
  const [owner] = await store.get<KeyOwnerRecord>([keyOwnerKey(hashOfKey(secret))]);
  return owner !== null;
}

/**
 * Changes the settings of a key. Call {@linkcode KeyRing.evictAccount} so that they take effect at once.
 *
 * @throws {GatewayError} `not_found` if the account has no such key.
 */
export async function changeKey(store: Store, account: string, id: string, changes: KeyChanges): Promise<IssuedKey> {
  const changed = KEY_ID.test(id)
    ? await updateRecord<KeyRecord>(store, keyKey(account, id), (key) => withSettings(key, changes))
    : null;
  if (!changed) throw new GatewayError("not_found", "Cannot change the key: no such key");
  return withoutHash(changed);
}

function withSettings(key: KeyRecord, changes: KeyChanges): KeyRecord {
  const { name: _name, expiresAt: _at, metadata: _metadata, limits: _limits, capture: _capture, ...rest } = key;
  const { promptCaching: _caching, ...facts } = rest;
  const after = { ...facts, ...changedSettings(key, changes) };
  return isDeepStrictEqual(key, after) ? key : after;
}

/**
 * Revokes a key forever. Revoking it again changes nothing. A node that has cached the key may accept it for some
 * seconds, unless the revocation goes through its own key ring.
 *
 * @throws {GatewayError} `not_found` if the account has no such key.
 */
export async function revokeKey(store: Store, account: string, id: string): Promise<IssuedKey> {
  const revoked = KEY_ID.test(id)
    ? await updateRecord<KeyRecord>(
      store,
      keyKey(account, id),
      (key) => key.revokedAt === null ? { ...key, revokedAt: store.now() } : key,
    )
    : null;
  if (!revoked) throw new GatewayError("not_found", "Cannot revoke the key: no such key");
  return withoutHash(revoked);
}

/** A key in place of another one. */
export interface ReplacedKey extends NewKey {
  /** The key before, which is revoked, or expires when the overlap ends. */
  readonly replaced: IssuedKey;
}

/** More lost races for one key indicate a programming error. */
const MAX_RACES = 8;

/**
 * Issues a key with the settings of another one, which ends. Both happen in one commit.
 *
 * @param overlapMs How long the key before stays valid; 0 revokes it at once.
 * @throws {GatewayError} `not_found` if the account has no such key; `conflict` if it is revoked or has expired, or if
 * it changes all the time.
 */
export async function rotateKey(store: Store, account: string, id: string, overlapMs: number): Promise<ReplacedKey> {
  for (let race = 0; race < MAX_RACES; race++) {
    const [entry] = KEY_ID.test(id) ? await store.get<KeyRecord>([keyKey(account, id)]) : [null];
    if (!entry) throw new GatewayError("not_found", "Cannot rotate the key: no such key");
    const { key, version, value: before } = entry;
    const now = store.now();
    const { name, metadata, limits, capture, promptCaching, expiresAt = Infinity } = before;
    if (before.revokedAt !== null || expiresAt <= now) {
      throw new GatewayError("conflict", "Cannot rotate the key: it is no longer valid");
    }
    const replaced: KeyRecord = overlapMs === 0
      ? { ...before, revokedAt: now }
      : { ...before, expiresAt: Math.min(expiresAt, now + overlapMs) };
    const secret = newApiKey();
    const record: KeyRecord = {
      ...keyRecordOf(secret, account, now),
      ...name !== undefined && { name },
      ...metadata && { metadata },
      ...limits && { limits },
      ...capture && { capture },
      ...promptCaching && { promptCaching },
      ...expiresAt !== Infinity && { expiresAt },
    };
    const commit = addKey({ check: [{ key, version }], set: [{ key, value: replaced }] }, record);
    if ((await store.commit(null, commit)).ok) {
      return { key: withoutHash(record), secret, replaced: withoutHash(replaced) };
    }
  }
  throw new GatewayError("conflict", "Cannot rotate the key: too many concurrent changes");
}

function withoutHash({ hash: _, ...key }: KeyRecord): IssuedKey {
  return key;
}
