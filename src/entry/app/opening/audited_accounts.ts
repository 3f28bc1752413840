import { appendAll } from "../../../platform/lib/collections/append_all.ts";
import type { AuditedChange, AuditLog } from "../../../observers/audit/audit_log.ts";
import { CONFIGURATION } from "../../../observers/audit/records.ts";
import {
  type ConfiguredAccount,
  ensureConfiguredAccounts,
  type EnsuredAccounts,
} from "../../../money/billing/declared/configured_accounts.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { changedStore } from "../../../platform/store/changed_store.ts";
import type { Store } from "../../../platform/store/store.ts";
import { Late } from "../../../platform/lib/process/late.ts";

const shownAccountModule = new Late(() => import("../../../protocols/admin/shared/shown_account.ts"));
const shownKeysModule = new Late(() => import("../../../protocols/admin/shared/shown_keys.ts"));

/**
 * Applies the configured accounts as {@linkcode ensureConfiguredAccounts} does, and records each changed account in the
 * audit log. The entry is written before the first commit; an account that does not change has none.
 *
 * @throws What {@linkcode ensureConfiguredAccounts} throws.
 */
export async function ensureAuditedAccounts(
  { store, audit, accounts }: {
    readonly store: Store;
    readonly audit: AuditLog;
    readonly accounts: readonly ConfiguredAccount[];
  },
): Promise<EnsuredAccounts> {
  const created: EnsuredAccounts["created"][number][] = [];
  let keysAdded = 0;
  for (const account of accounts) {
    let change: AuditedChange | null = null;
    const watched = watchedStore(store, async () => {
      change ??= await audit.begin({
        actor: { name: CONFIGURATION, address: null },
        requestId: null,
        method: "PUT",
        path: `accounts/${account.id}`,
        account: account.id,
        before: await shown(store, account.id),
      });
    });
    const ensured = await ensureConfiguredAccounts(watched, [account]);
    appendAll(created, ensured.created);
    keysAdded += ensured.keysAdded;
    await (change as AuditedChange | null)?.done(await shown(store, account.id));
  }
  return { created, keysAdded };
}

/** An account as the admin API shows it. Most starts change no account, so the code is loaded for the first change. */
async function shown(store: Store, id: string): Promise<JsonObject | null> {
  const { shownAccount } = await shownAccountModule.load();
  const { shownKeys } = await shownKeysModule.load();
  const account = await shownAccount(store, id);
  return account === null ? null : { ...account, keys: await shownKeys(store, id) };
}

/** A store that calls back before each commit. */
function watchedStore(store: Store, onCommit: () => Promise<void>): Store {
  return changedStore(store, {
    async commit(operation, commit) {
      await onCommit();
      return await store.commit(operation, commit);
    },
  });
}
