import type { Store } from "../../../platform/store/store.ts";
import { readAccount } from "./account.ts";
import {
  accountKey,
  type AccountRecord,
  ERASED_ACCOUNTS,
  keyKey,
  type KeyRecord,
  keysOf,
  webhookSecretKey,
} from "./records.ts";
import { updateRecord } from "./update_record.ts";

const PAGE = 100;
/** Other processes look for erased accounts every few seconds. */
const NOTICE_MS = 600_000;
const MAX_NOTICES = 1_000;

/**
 * Begins the erasure of an account in one commit: it is suspended, and only its id, its times and its money stay. Call
 * `KeyRing.evictAccount` so that its keys are refused at once. A repeat changes nothing.
 *
 * @throws {GatewayError} `not_found` if there is no such account.
 */
export async function beginErasure(store: Store, id: string): Promise<void> {
  await readAccount(store, id);
  const now = store.now();
  await updateRecord<AccountRecord>(
    store,
    accountKey(id),
    (account) => account.erasure === undefined ? erasedRecordOf(account, now) : account,
    { delete: [webhookSecretKey(id)] },
  );
}

function erasedRecordOf({ id, createdAt, suspendedAt }: AccountRecord, now: number): AccountRecord {
  return { id, createdAt, suspendedAt: suspendedAt ?? now, erasure: { begunAt: now, endedAt: null } };
}

/**
 * Records that everything of an account is removed.
 *
 * @returns When that was first so, in Unix milliseconds.
 */
export async function endErasure(store: Store, id: string): Promise<number> {
  const now = store.now();
  const account = await updateRecord<AccountRecord>(store, accountKey(id), (record) => {
    const { begunAt = now, endedAt = null } = record.erasure ?? {};
    return endedAt === null ? { ...record, erasure: { begunAt, endedAt: now } } : record;
  }, { set: [{ key: [...ERASED_ACCOUNTS, id], value: true, ttlMs: NOTICE_MS }] });
  return account?.erasure?.endedAt ?? now;
}

/** The accounts that were erased in the last minutes, by any process. */
export async function recentlyErased(store: Pick<Store, "scan">): Promise<string[]> {
  const entries = await store.scan(ERASED_ACCOUNTS, { limit: MAX_NOTICES });
  return entries.map(({ key }) => String(key.at(-1)));
}

/**
 * Revokes the keys of an account and removes their settings, a commit for each. The visible part of a secret is removed
 * too, as an operator can have chosen the secret. Yields the id of every key.
 */
export async function* eraseKeys(store: Store, account: string): AsyncGenerator<string> {
  let after: string | undefined;
  do {
    const page = await store.scan<KeyRecord>(keysOf(account), {
      limit: PAGE,
      ...after !== undefined && { after: keyKey(account, after) },
    });
    for (const { key, value } of page) {
      await updateRecord<KeyRecord>(
        store,
        key,
        (record) => isErased(record) ? record : erasedKeyOf(record, store.now()),
      );
      yield value.id;
    }
    after = page[PAGE - 1]?.value.id;
  } while (after !== undefined);
}

function isErased(key: KeyRecord): boolean {
  return key.revokedAt !== null && key.prefix === "" &&
    Object.keys(key).length === Object.keys(erasedKeyOf(key, 0)).length;
}

function erasedKeyOf(
  { id, account, hash, createdAt, lastUsedAt, revokedAt }: KeyRecord,
  now: number,
): KeyRecord {
  return { id, account, hash, prefix: "", createdAt, lastUsedAt, revokedAt: revokedAt ?? now };
}
