import { createAccount } from "../../src/money/billing/accounts/account.ts";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import type { StoreEngine } from "../../src/platform/store/engine.ts";
import { openMemoryStore } from "../support/memory_store.ts";
import type { PostEvent } from "../../src/services/webhooks/attempt.ts";
import type { EndedTask } from "../../src/services/webhooks/ended_task.ts";
import { storeTimeOf } from "../../src/platform/store/store_time.ts";
import { createWebhooks, type Webhooks } from "../../src/services/webhooks/webhooks.ts";
import { hostClock } from "../support/host_clock.ts";
import { ManualClock } from "../support/manual_clock.ts";

/** The secret of the account `demo`. */
export const SECRET = `whsec_${"c3dpdGNoeWFyZCBzYXlzIGl0IGlzIGl0c2VsZg=="}`;

/** Webhooks over a store in memory and a manual clock. */
export interface WebhookStage {
  /** The clock of the store. */
  readonly clock: ManualClock;
  readonly store: StoreEngine;
  readonly webhooks: Webhooks;
}

/**
 * Creates webhooks with the account `demo`.
 *
 * @param aheadMs How far the clock of the machine is ahead of the store's.
 */
export async function openWebhookStage(
  post: PostEvent,
  random: () => number = () => 0,
  aheadMs = 0,
): Promise<WebhookStage> {
  const clock = new ManualClock();
  const store = await openMemoryStore({ clock });
  await createAccount(store, { id: "demo", balance: 0n, webhookSecret: SECRET });
  const egress = { allow: [], own: [], clock };
  const host = hostClock(clock, aheadMs);
  const webhooks = createWebhooks({ store, clock: host, log: silentLog, egress, timeoutMs: 10_000, random, post });
  return { clock, store, webhooks };
}

/** Returns an ended task with a test's changes. */
export function endedTask(
  { endedAt, ...change }: Partial<Omit<EndedTask, "endedAt">> & { readonly endedAt: number },
): EndedTask {
  const taskId = change.taskId ?? crypto.randomUUID();
  const status = change.status ?? "completed";
  const task = { id: taskId, status, prompt: "a lighthouse, „dusk“ ☾", mirror_urls: [] };
  const callbackUrl = "https://receiver.example/hook?a=1";
  return { taskId, account: "demo", status, callbackUrl, task, endedAt: storeTimeOf(endedAt), ...change };
}

/** Commits the end of a task, like the video engine. */
export async function end(world: Pick<WebhookStage, "store" | "webhooks">, ended: EndedTask): Promise<void> {
  const result = await world.store.commit(null, world.webhooks.onTerminal({}, ended));
  if (!result.ok) throw new Error(`The commit was refused: ${result.why}`);
}

/** Runs everything in progress until its next wait. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 2));
}
