import * as z from "zod";
import { OPERATOR_ENDPOINTS } from "../../platform/endpoints/operators.ts";
import type { Handler, Inbound } from "../../platform/http/request/inbound.ts";
import { secondsOf } from "../../platform/lib/basics/clock.ts";
import { invalidField } from "../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import { newTaskId } from "../../services/videos/tasks/task_id.ts";
import { eventOf, idempotencyKeyOf } from "../../services/webhooks/envelope.ts";
import type { EventFeed, FeedEvent } from "../../services/webhooks/event_feed.ts";
import { TERMINAL_STATUSES } from "../../services/webhooks/ended_task.ts";
import { statusOfEvent, testEventOf } from "../../services/webhooks/test_event.ts";
import type { ReadJson } from "./accounts.ts";
import { answerJson } from "./shared/answer.ts";
import { readFields } from "./shared/fields.ts";
import type { StoreTime } from "../../platform/store/store_time.ts";
import { operatorOf } from "./admin_access.ts";
import { type AdminRoute, adminRoute, PRIVATE_READ } from "./shared/admin_route.ts";

/** The dependencies of the event endpoints. */
export interface AdminEventOptions {
  readonly feed: EventFeed;
  readonly readJson: ReadJson;
  /** The gateway's own address, without a trailing slash. */
  readonly baseUrl: () => string;
  /** Unix milliseconds. */
  readonly now: () => StoreTime;
}

/** The body of `POST /admin/v1/events`. */
export const NewTestEvent = z.strictObject({
  event: z.string("the name of an event"),
  account: z.string("an account's id"),
  kept: z.boolean("true or false").default(true),
});

/** The event endpoints of the admin API. */
export function adminEventRoutes(options: AdminEventOptions): AdminRoute[] {
  const isAudited = onceInAWhile(options.now);
  return [
    adminRoute(OPERATOR_ENDPOINTS.readEvents, listHandler(options), {
      ...PRIVATE_READ,
      isAudited,
      parameters: ["from"],
    }),
    adminRoute(OPERATOR_ENDPOINTS.createTestEvent, testHandler(options)),
  ];
}

/** A listener reads every second, so the audit log gets an entry for each operator in this time. */
const AUDIT_MS = 600_000;

/** Whether an operator has not been told in the audit log for some time. */
function onceInAWhile(now: () => number): (inbound: Inbound) => boolean {
  const toldAt = new Map<string, number>();
  return (inbound) => {
    const operator = operatorOf(inbound);
    const at = now();
    const told = toldAt.get(operator);
    if (told !== undefined && at >= told && at - told < AUDIT_MS) return false;
    toldAt.set(operator, at);
    return true;
  };
}

/**
 * `GET /admin/v1/events?from`: `{data, next}`, the events from a cursor on, whether or not they are delivered. `next`
 * is the `from` of the following request. Without `from` only the current cursor is returned. Events are kept for a
 * minute, from the first request until half a minute after the last.
 */
function listHandler({ feed }: AdminEventOptions): Handler {
  return async ({ query }) => {
    const from = new URLSearchParams(query).get("from");
    if (from !== null && !/^\d{1,15}$/.test(from)) throw invalidField("from", "expected the next of a previous page");
    const { events, next } = await feed.read(from === null ? null : Number(from));
    return answerJson({ data: events.map(writeEvent), next });
  };
}

/**
 * `POST /admin/v1/events` `{event, account, kept?}`: 201 with a test event signed with the account's secret. It is not
 * delivered. Listeners receive it unless `kept` is false. `heard` is true if there are listeners.
 */
function testHandler({ feed, readJson, baseUrl, now }: AdminEventOptions): Handler {
  return async (inbound) => {
    const { event, account, kept } = readFields(NewTestEvent, await readJson(inbound));
    const status = statusOfEvent(event);
    if (status === null) {
      throw invalidField("event", `expected one of ${TERMINAL_STATUSES.map(eventOf).join(", ")}`);
    }
    const at = now();
    const ended = testEventOf({ taskId: newTaskId(at), account, status, now: at, baseUrl: baseUrl() });
    const made = await feed.createTestEvent(ended, kept);
    return answerJson({ ...writeEvent(made), heard: feed.hasReaders }, 201);
  };
}

function writeEvent({ id, account, status, url, createdAt, headers, body }: FeedEvent): JsonObject {
  return {
    task: id,
    account,
    event: eventOf(status),
    idempotency_key: idempotencyKeyOf(id, status),
    url: url === null ? null : addressOf(url),
    created_at: secondsOf(createdAt),
    headers: { ...headers },
    body,
  };
}

/** Without the query, which may contain a secret of the receiver. */
function addressOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}
