import type { AuditLog } from "../../../observers/audit/audit_log.ts";
import { countOpenBatches } from "../../../services/batches/records/records.ts";
import { eraseBatches } from "../../../services/batches/retention.ts";
import { readAccount } from "../../../money/billing/accounts/account.ts";
import { beginErasure, endErasure, eraseKeys } from "../../../money/billing/accounts/erase_account.ts";
import type { KeyRing } from "../../../money/billing/keys/key_ring.ts";
import type { LedgerMeter } from "../../../money/billing/meter/meter.ts";
import { eraseCaches } from "../../../services/caches/erase_caches.ts";
import { type ConfigDiff, diffWithoutAccount } from "../../../config/diff/config_diff.ts";
import { eraseFromVersions } from "../../../config/diff/stored_config.ts";
import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { type Money, writeMoney } from "../../../platform/lib/basics/money.ts";
import type { Erasure } from "../../../protocols/admin/erasure.ts";
import { UnfinishedChangeError } from "../../../protocols/admin/shared/unfinished_change.ts";
import { eraseReplays } from "../../../services/replays/erase_replays.ts";
import type { RequestLog } from "../../../observers/request_log/request_log.ts";
import type { Store } from "../../../platform/store/store.ts";
import { eraseStoredFiles } from "../../../services/stored_files/retention.ts";
import { countPendingTasks, eraseIdempotencyKeys, eraseTasks } from "../../../services/videos/upkeep/erase_tasks.ts";
import { removeFromFeed } from "../../../services/webhooks/feed_records.ts";
import { removeDelivery, removeNotifications } from "../../../services/webhooks/records.ts";
import type { FileStores } from "../opening/file_stores.ts";
import type { OtherGateways } from "../opening/other_gateways.ts";

/** The parts that {@linkcode eraseAccount} uses. */
export interface EraseAccountParts {
  readonly store: Store;
  readonly keys: Pick<KeyRing, "evictAccount">;
  readonly meter: Pick<LedgerMeter, "openCalls" | "settle" | "invalidate" | "recall">;
  readonly files: Pick<FileStores, "results" | "caches">;
  /** Null if there is none. */
  readonly requestLog: Pick<RequestLog, "deleteAccount"> | null;
  readonly audit: Pick<AuditLog, "eraseValues">;
  /** Removes what is kept in memory of an account's replies, and returns the number. */
  readonly forgetReplies: (account: string) => number;
  /** Null if there are none. They remove what they keep in memory when they find the erasure. */
  readonly others: OtherGateways | null;
}

/**
 * Removes everything that identifies an account. Its id, balance and ledger stay. It begins only without work under
 * way, and first stops new work: the account is suspended and its keys are revoked. Every step has small commits and
 * can be repeated, so the next run finishes one that was interrupted. Source: docs/decisions/0073-erased-accounts.md.
 *
 * @throws {GatewayError} `not_found`; `conflict` while work is under way, with what to do.
 */
export async function eraseAccount(parts: EraseAccountParts, account: string): Promise<Erasure> {
  const { store, keys, meter, files, requestLog, audit, forgetReplies, others } = parts;
  const before = await workOf(parts, account);
  if (before !== null) throw new GatewayError("conflict", `Cannot erase the account: ${before}`);
  await beginErasure(store, account);
  keys.evictAccount(account);
  meter.invalidate(account);
  const keyIds: string[] = [];
  let idempotencyKeys = 0;
  for await (const id of eraseKeys(store, account)) {
    keyIds.push(id);
    idempotencyKeys += await eraseIdempotencyKeys(store, id);
  }
  await others?.untilKeysRefused();
  // A request that was authenticated before the suspension can have begun work.
  const since = await workOf(parts, account);
  if (since !== null) {
    throw new UnfinishedChangeError(
      `The account is suspended and its keys are revoked, but not all is erased: ${since}`,
    );
  }
  let deliveries = 0;
  const onRemoval = async (task: string) => {
    if (await removeDelivery(store, task)) deliveries++;
    return true;
  };
  const removed = await eraseTasks({ store, files: files.results, onRemoval }, account);
  const batches = await eraseBatches({ store, files: files.results, onRemoval }, account);
  const storedFiles = await eraseStoredFiles({ store, files: files.results }, account);
  deliveries += await removeNotifications(store, account);
  await removeFromFeed(store, account);
  const cachedContents = await eraseCaches({ store, files: files.caches }, account);
  const keptReplies = forgetReplies(account);
  idempotencyKeys += await eraseReplays(store, account);
  const requests = await requestLog?.deleteAccount(account) ?? null;
  const auditEntries = await audit.eraseValues(account, (value) => valueWithoutAccount(value, account));
  const configVersions = await eraseFromVersions(store, account);
  const erasedAt = await endErasure(store, account);
  return {
    erasedAt,
    requests,
    tasks: removed.tasks + batches,
    files: removed.files + storedFiles,
    deliveries,
    cachedContents,
    idempotencyKeys,
    keptReplies,
    keys: keyIds.length,
    auditEntries,
    configVersions,
  };
}

/** A change of the configuration is audited with its difference. */
function valueWithoutAccount(value: JsonObject, account: string): JsonObject {
  const { changed } = value;
  if (typeof changed !== "object" || changed === null || Array.isArray(changed)) return value;
  return diffWithoutAccount(value as JsonObject & Pick<ConfigDiff, "changed">, account);
}

/** A message needs no exact number of many. */
const MAX_COUNTED_BATCHES = 1_000;

/** What an account still has under way, and what to do; null if there is nothing. */
async function workOf({ store, meter, others }: EraseAccountParts, account: string): Promise<string | null> {
  const { held }: { held: Money } = await readAccount(store, account);
  const tasks = await countPendingTasks(store, account);
  if (tasks > 0) return `it has pending video tasks (${tasks}); cancel them or wait for their end, and repeat`;
  const batches = await countOpenBatches(store, account, MAX_COUNTED_BATCHES);
  if (batches > 0) return `it has open batches (${batches}); cancel them or wait for their end, and repeat`;
  await meter.recall(account);
  const calls = meter.openCalls(account);
  if (calls > 0) return `it has requests under way (${calls}); wait for their end, and repeat`;
  await meter.settle(account);
  const leased = await others?.leasedOf(account) ?? 0n;
  if (leased > 0n) {
    return "it had requests at another gateway in the last seconds; wait for their end, and repeat";
  }
  return held > 0n ? `${writeMoney(held)} USD of its balance is held; wait for the end of that work, and repeat` : null;
}
