import { accountKey, type AccountRecord, mergeCommits, OPERATOR } from "../../money/billing/accounts/records.ts";
import { setOperatorSecret } from "../../money/billing/accounts/webhook_secret.ts";
import type { NotificationsConfig } from "./notifications_section.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import type { Log, LogFields } from "../../platform/lib/basics/log.ts";
import type { Commit, Store } from "../../platform/store/store.ts";
import { newTaskId } from "../videos/tasks/task_id.ts";
import { newDelivery } from "../webhooks/delivery.ts";
import { type NotificationEvent, renderEvent } from "../webhooks/envelope.ts";
import { addDelivery } from "../webhooks/records.ts";
import { causeKey, type CauseRecord } from "./causes.ts";

/** Something that the operator, or an account, should know. */
export interface Notification {
  readonly event: NotificationEvent;
  /** Tells its cause from others of the event, part by part. The event is sent once while the cause is stored. */
  readonly cause: readonly string[];
  /** How long the cause is stored, in milliseconds. Default: until it is removed. */
  readonly causeTtlMs?: number;
  /** The account that it is about, which gets it too; null for the operator alone. */
  readonly account: string | null;
  /** What receivers get as `data`. If it is about an account, it has nothing of others or of the operator. */
  readonly data: JsonObject;
  /** What the line in the log says, besides the account; null if the caller has logged it. */
  readonly logged: LogFields | null;
}

/** The dependencies of {@linkcode announce}. */
export interface AnnounceParts {
  readonly store: Store;
  readonly log: Log;
  /** Gives the current section. */
  readonly config: () => NotificationsConfig;
}

/**
 * Sends a notification once for its cause: to the operator's address, to the account's address, and to the log. The
 * deliveries are in the commit that stores the cause, so that none is lost or made twice.
 *
 * @returns Whether it was sent. If not, its cause is stored already, or its account was erased or changed meanwhile.
 * @throws What {@linkcode Store.commit} throws.
 */
export async function announce(parts: AnnounceParts, notification: Notification): Promise<boolean> {
  const commit = await announcementOf(parts, notification);
  if (commit === null) return false;
  const { ok } = await parts.store.commit(null, commit);
  const { event, logged, account } = notification;
  if (ok && logged !== null) {
    parts.log.warn(event.replace(".", "_"), { ...logged, ...account !== null && { accountId: account } });
  }
  return ok;
}

/**
 * What {@linkcode announce} commits, for a commit that also stores what the notification is about: neither is there
 * without the other then, also if the process is killed.
 *
 * @returns Null if its account was erased.
 * @throws What {@linkcode Store.commit} throws.
 */
export async function announcementOf(
  { store, config }: Pick<AnnounceParts, "store" | "config">,
  notification: Notification,
): Promise<Commit | null> {
  const { event, cause, causeTtlMs, account } = notification;
  const [owner = null] = account === null ? [] : await store.get<AccountRecord>([accountKey(account)]);
  if (account !== null && (owner === null || owner.value.erasure !== undefined)) return null;
  const key = causeKey(event, cause);
  const at = store.now();
  const record: CauseRecord = { at };
  let commit: Commit = {
    check: [
      { key, version: null },
      // An erasure removes the deliveries about an account, and must find all of them.
      ...owner === null ? [] : [{ key: owner.key, version: owner.version }],
    ],
    set: [{ key, value: record, ...causeTtlMs !== undefined && { ttlMs: causeTtlMs } }],
  };
  const { url, secret } = config();
  if (url !== null && secret !== null) {
    await setOperatorSecret(store, secret);
    commit = mergeCommits(commit, deliveryTo({ account: OPERATOR, url }, notification, at));
  }
  if (owner?.value.notificationUrl !== undefined) {
    const { id, notificationUrl } = owner.value;
    commit = mergeCommits(commit, deliveryTo({ account: id, url: notificationUrl }, notification, at));
  }
  return commit;
}

interface Receiver {
  /** Whose secret signs the event. */
  readonly account: string;
  readonly url: string;
}

function deliveryTo(
  receiver: Receiver,
  { event: status, account: subject, data }: Notification,
  createdAt: ReturnType<Store["now"]>,
): Commit {
  const id = newTaskId(createdAt);
  const about = newDelivery({ id, status, createdAt, ...receiver, ...subject !== null && { subject } });
  return addDelivery({}, about, renderEvent({ id, status, at: createdAt, data }));
}
