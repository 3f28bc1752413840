import { Late } from "../../platform/lib/process/late.ts";
import { createJobRunner, type JobHandler, type JobRunner } from "../../platform/store/job_runner.ts";
import type { Commit } from "../../platform/store/store.ts";
import { newDelivery } from "./delivery.ts";
import { type DeliveryAdmin, openDeliveryAdmin } from "./delivery_admin.ts";
import type { EndedTask } from "./ended_task.ts";
import { renderEnvelope } from "./envelope.ts";
import { type EventFeed, openEventFeed } from "./event_feed.ts";
import { addDelivery, readDelivery, WEBHOOK_JOB } from "./records.ts";
import { removeDeliveryOf } from "./retention.ts";
import type { WebhookParts } from "./webhook_parts.ts";

/** The functions of webhooks that the rest of the gateway uses. */
export interface Webhooks {
  /**
   * Adds the delivery of a task that ended to its terminal commit. Returns the commit unchanged if the task has no
   * callback address.
   */
  readonly onTerminal: (commit: Commit, ended: EndedTask) => Commit;
  /** Removes the delivery of a task, if it has one; false if it is pending. */
  readonly onRemoval: (taskId: string) => Promise<boolean>;
  /** Whether a task has a pending delivery. */
  readonly hasPendingDelivery: (taskId: string) => Promise<boolean>;
  readonly deliveries: DeliveryAdmin;
  /** The feed for developing receivers. */
  readonly feed: EventFeed;
  /** Starts delivering. Draining the runner also closes the connections kept to receivers. */
  startJobs(): JobRunner;
}

/** Maximum number of jobs that hold a place, wait in a queue or are being postponed. */
const MAX_ADMITTED = 2_048;

/** Creates webhook delivery. */
export function createWebhooks(parts: WebhookParts): Webhooks {
  const { store, clock, log } = parts;
  const feed = openEventFeed(store, clock);
  return {
    onTerminal: (commit, ended) => feed.addEvent(addEvent(commit, ended), ended),
    onRemoval: (taskId) => removeDeliveryOf(store, taskId),
    hasPendingDelivery: async (taskId) => (await readDelivery(store, taskId))?.value.state === "pending",
    deliveries: openDeliveryAdmin(store),
    feed,
    startJobs() {
      const sender = new Late(async () => {
        const { openSender } = await import("./sender.ts");
        return openSender(parts);
      });
      const handler: JobHandler = async (...call) => await (await sender.load()).handler(...call);
      const runner = createJobRunner({
        store,
        clock,
        log,
        handlers: { [WEBHOOK_JOB]: handler },
        concurrency: { [WEBHOOK_JOB]: MAX_ADMITTED },
      });
      return {
        get running() {
          return runner.running;
        },
        async drain(graceMs) {
          sender.loaded?.stop();
          await runner.drain(graceMs);
          sender.loaded?.close();
        },
      };
    },
  };
}

function addEvent(commit: Commit, ended: EndedTask): Commit {
  const { taskId: id, account, status, callbackUrl: url, endedAt: createdAt } = ended;
  if (url === null) return commit;
  return addDelivery(commit, newDelivery({ id, account, status, url, createdAt }), renderEnvelope(ended));
}
