import * as z from "zod";
import { TERMINAL_STATUSES } from "../../services/webhooks/ended_task.ts";
import { OPERATOR_ENDPOINTS } from "../../platform/endpoints/operators.ts";
import { pathParam } from "../../platform/http/request/inbound.ts";
import { secondsOf } from "../../platform/lib/basics/clock.ts";
import { invalidField } from "../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import { newTaskId } from "../../services/videos/tasks/task_id.ts";
import { eventOf } from "../../services/webhooks/envelope.ts";
import type { EventFeed } from "../../services/webhooks/event_feed.ts";
import { statusOfEvent, testEventOf } from "../../services/webhooks/test_event.ts";
import {
  MAX_RECEIVER_MINUTES,
  type ReceivedEvent,
  type TestReceiver,
  type TestReceivers,
} from "../../services/webhooks/test_receivers.ts";
import type { ReadJson } from "./accounts.ts";
import { type AdminRoute, adminRoute } from "./shared/admin_route.ts";
import { answerJson } from "./shared/answer.ts";
import { readFields } from "./shared/fields.ts";
import type { StoreTime } from "../../platform/store/store_time.ts";

/** The dependencies of the endpoints of receivers. */
export interface AdminReceiverOptions {
  readonly receivers: () => Promise<TestReceivers>;
  readonly feed: Pick<EventFeed, "createTestEvent">;
  readonly readJson: ReadJson;
  readonly readOptionalJson: ReadJson;
  /** The gateway's own address, without a trailing slash. */
  readonly baseUrl: () => string;
  /** Unix milliseconds. */
  readonly now: () => StoreTime;
}

const MINUTES = `whole minutes from 1 to ${MAX_RECEIVER_MINUTES}`;
/** The body of `POST /admin/v1/webhook-receivers`. */
export const NewReceiver = z.strictObject({
  account: z.string("an account's id"),
  minutes: z.int(MINUTES).min(1, MINUTES).max(MAX_RECEIVER_MINUTES, MINUTES).default(10),
});
/** The body of `POST …/:id/test`. */
export const ReceiverTest = z.strictObject({ event: z.string("the name of an event").default("completed") });

const WRITE = { role: "write" } as const;

/** The endpoints of receivers of webhooks. Source: docs/api/admin.md#webhook-receivers. */
export function adminReceiverRoutes(options: AdminReceiverOptions): AdminRoute[] {
  const { receivers, feed, readJson, readOptionalJson, baseUrl, now } = options;
  return [
    adminRoute(OPERATOR_ENDPOINTS.openReceiver, async (inbound) => {
      const { account, minutes } = readFields(NewReceiver, await readJson(inbound));
      return answerJson(writeReceiver(await (await receivers()).open(account, minutes)), 201);
    }, { isResultAudited: false }),
    // Whoever has the address of a receiver can send to it, and its events are signed: not for the role "read".
    adminRoute(
      OPERATOR_ENDPOINTS.listReceivers,
      async () => answerJson({ data: (await receivers()).list().map(writeReceiver) }),
      WRITE,
    ),
    adminRoute(OPERATOR_ENDPOINTS.readReceiver, async ({ params }) => {
      const { receiver, events } = (await receivers()).read(pathParam(params, "id"));
      return answerJson({ ...writeReceiver(receiver), data: events.map(writeEvent) });
    }, WRITE),
    adminRoute(OPERATOR_ENDPOINTS.testReceiver, async (inbound) => {
      const opened = await receivers();
      const { receiver } = opened.read(pathParam(inbound.params, "id"));
      const { event } = readFields(ReceiverTest, await readOptionalJson(inbound));
      const status = statusOfEvent(event);
      if (status === null) throw invalidField("event", `expected one of ${TERMINAL_STATUSES.map(eventOf).join(", ")}`);
      const [at, { id, account }] = [now(), receiver];
      const ended = testEventOf({ taskId: newTaskId(at), account, status, now: at, baseUrl: baseUrl() });
      const { headers, body } = await feed.createTestEvent(ended, false);
      await opened.receive(id, { headers, body: new TextEncoder().encode(body), via: "gateway" });
      return answerJson(writeReceiver(receiver), 201);
    }, { isResultAudited: false }),
    adminRoute(OPERATOR_ENDPOINTS.closeReceiver, async ({ params }) => {
      const opened = await receivers();
      const { receiver } = opened.read(pathParam(params, "id"));
      opened.close(receiver.id);
      return answerJson(writeReceiver(receiver));
    }, { isResultAudited: false }),
  ];
}

function writeReceiver({ id, account, url, closesAt }: TestReceiver): JsonObject {
  return { id, account, url, closes_at: secondsOf(closesAt) };
}

function writeEvent({ number, receivedAt, via, headers, body, problem }: ReceivedEvent): JsonObject {
  const { "x-service-idempotency-key": idempotencyKey = null } = headers;
  return {
    number,
    received_at: secondsOf(receivedAt),
    via,
    verified: problem === null,
    problem,
    idempotency_key: idempotencyKey,
    headers: { ...headers },
    body,
  };
}
