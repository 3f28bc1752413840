import { accountKey, type AccountRecord } from "../../money/billing/accounts/records.ts";
import type { Commit, Store } from "../../platform/store/store.ts";
import type { StoreTime } from "../../platform/store/store_time.ts";
import { newDelivery } from "../webhooks/delivery.ts";
import { type BatchEvent, renderEvent, renderOpenAiEvent } from "../webhooks/envelope.ts";
import { addDelivery } from "../webhooks/records.ts";
import type { BatchRecord, EndedBatchStatus } from "./records/batch.ts";

/** The id of the delivery to the address of the account. The one to `callback_url` has the id of the batch. */
function accountDeliveryId(batchId: string): string {
  return `${batchId}-account`;
}

/** The ids of all deliveries that a batch can have. */
export function deliveryIdsOf(batchId: string): readonly string[] {
  return [batchId, accountDeliveryId(batchId)];
}

/**
 * Adds the event of a batch's end to its commit: to `callback_url`, and to the address of its account.
 *
 * @param data The batch as its caller reads it.
 */
export async function addBatchEvent(
  commit: Commit,
  { id, account, callbackUrl }: BatchRecord,
  { store, status, at, data }: {
    readonly store: Store;
    readonly status: EndedBatchStatus;
    readonly at: StoreTime;
    readonly data: object;
  },
): Promise<Commit> {
  const [owner = null] = await store.get<AccountRecord>([accountKey(account)]);
  const { notificationUrl: url, webhookFormat } = owner?.value ?? {};
  const event: BatchEvent = `batch.${status}`;
  const receivers = [
    ...callbackUrl === null ? [] : [{ id, url: callbackUrl }],
    ...url === undefined || url === callbackUrl ? [] : [{ id: accountDeliveryId(id), url }],
  ];
  const body = webhookFormat === "openai"
    ? renderOpenAiEvent({ id, status: event, at })
    : renderEvent({ id, status: event, at, data });
  return receivers.reduce((joined, receiver) => {
    // With its account as the subject, so that an erasure finds it.
    const about = newDelivery({ ...receiver, account, subject: account, status: event, createdAt: at });
    return addDelivery(joined, about, body);
  }, commit);
}
