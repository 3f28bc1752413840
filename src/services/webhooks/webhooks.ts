import type { Clock } from "../../platform/lib/basics/clock.ts";
import type { Late } from "../../platform/lib/process/late.ts";
import type { Log } from "../../platform/lib/basics/log.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import { EgressError } from "../../platform/net/egress_error.ts";
import { createPinnedPoster, type PostResponse } from "../../platform/net/pinned_post.ts";
import type { EgressPolicy } from "../../platform/net/target.ts";
import { createJobRunner, type JobRunner } from "../../platform/store/job_runner.ts";
import type { Commit, JobStore } from "../../platform/store/store.ts";
import { keptBytesOf, type PostEvent } from "./attempt.ts";
import { createAttemptLimiter, MAX_ADMITTED } from "./attempt_limiter.ts";
import { deliverHandler } from "./deliver.ts";
import { newDelivery } from "./delivery.ts";
import { type DeliveryAdmin, openDeliveryAdmin } from "./delivery_admin.ts";
import type { EndedTask } from "./ended_task.ts";
import { renderEnvelope } from "./envelope.ts";
import { type EventFeed, openEventFeed } from "./event_feed.ts";
import { addDelivery, readDelivery, WEBHOOK_JOB } from "./records.ts";
import { removeDeliveryOf } from "./retention.ts";
import type { SentEvent, TestReceivers } from "./test_receivers.ts";

/** Dependencies of the webhooks. */
export interface WebhookParts {
  readonly store: JobStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Policy for the callers' addresses. */
  /** Can change; it is read for each delivery. */
  readonly egress: EgressPolicy;
  /** Receivers inside the gateway. Default: none. */
  readonly receivers?: Pick<Late<TestReceivers>, "loaded">;
  /** Timeout of one attempt, from the name lookup to the response headers. */
  readonly timeoutMs: number;
  /** Returns a uniform random number in [0, 1). */
  readonly random: () => number;
  /** Default: a guarded POST over kept-alive connections; tests replace it. */
  readonly post?: PostEvent;
}

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

/** Maximum number of response bytes read before the connection is closed. */
const MAX_RESPONSE_BYTES = 16_384;

/** Creates webhook delivery. */
export function createWebhooks(parts: WebhookParts): Webhooks {
  const { store, clock, log, egress, timeoutMs, random, receivers } = parts;
  const feed = openEventFeed(store, clock);
  return {
    onTerminal: (commit, ended) => feed.addEvent(addEvent(commit, ended), ended),
    onRemoval: (taskId) => removeDeliveryOf(store, taskId),
    hasPendingDelivery: async (taskId) => (await readDelivery(store, taskId))?.value.state === "pending",
    deliveries: openDeliveryAdmin(store),
    feed,
    startJobs() {
      let trusted = egress.caCertificates;
      let poster = createPinnedPoster(egress);
      const post: PostEvent = parts.post ?? ((url, { headers, body, signal }) => {
        const opened = receivers?.loaded ?? null;
        const receiver = opened?.idAt(url) ?? null;
        if (opened !== null && receiver !== null) return handOver(opened, receiver, { headers, body, via: "gateway" });
        if (egress.caCertificates !== trusted) {
          poster.close();
          trusted = egress.caCertificates;
          poster = createPinnedPoster(egress);
        }
        return poster.post(url, {
          headers,
          body,
          signal,
          timeoutMs,
          capBytes: MAX_RESPONSE_BYTES,
          keptBytes: keptBytesOf,
        });
      });
      const limiter = createAttemptLimiter({ monotonicMs: () => clock.monotonicMs(), random, hungMs: timeoutMs / 2 });
      const handler = deliverHandler({ store, clock, log, post, limiter, random });
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
          limiter.close();
          await runner.drain(graceMs);
          poster.close();
        },
      };
    },
  };
}

const RECEIVED: PostResponse = { status: 200, header: () => null, bytes: 0 };

/** Gives an event to a receiver inside the gateway without a connection, which `egress` would refuse. */
async function handOver(
  receivers: Pick<TestReceivers, "receive">,
  id: string,
  event: SentEvent,
): Promise<PostResponse> {
  await receivers.receive(id, event).catch((error) => {
    if (!(error instanceof GatewayError)) throw error;
    throw new EgressError("broken", error.message);
  });
  return RECEIVED;
}

function addEvent(commit: Commit, ended: EndedTask): Commit {
  const { taskId: id, account, status, callbackUrl: url, endedAt: createdAt } = ended;
  if (url === null) return commit;
  return addDelivery(commit, newDelivery({ id, account, status, url, createdAt }), renderEnvelope(ended));
}
