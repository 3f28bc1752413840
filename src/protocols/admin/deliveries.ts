import * as z from "zod";
import { OPERATOR } from "../../money/billing/accounts/records.ts";
import { OPERATOR_ENDPOINTS } from "../../platform/endpoints/operators.ts";
import { type Handler, pathParam } from "../../platform/http/request/inbound.ts";
import { secondsOf } from "../../platform/lib/basics/clock.ts";
import { GatewayError, invalidField } from "../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import {
  type Delivery,
  DELIVERY_STATES,
  type DeliveryAttempt,
  type DeliveryState,
} from "../../services/webhooks/delivery.ts";
import type { DeliveryAdmin } from "../../services/webhooks/delivery_admin.ts";
import { eventOf, idempotencyKeyOf } from "../../services/webhooks/envelope.ts";
import type { ReadJson } from "./accounts.ts";
import { answerJson } from "./shared/answer.ts";
import { type AdminRoute, adminRoute, PRIVATE_READ } from "./shared/admin_route.ts";
import { readFields } from "./shared/fields.ts";
import { formatCursor, parseCursor, readRange, readTimePage, TIME_PAGE_PARAMETERS } from "./shared/time_page.ts";

/** The dependencies of the delivery endpoints. */
export interface AdminDeliveryOptions {
  readonly admin: DeliveryAdmin;
  readonly readJson: ReadJson;
}

const LAST_SECOND = Math.floor(Number.MAX_SAFE_INTEGER / 1_000);

const seconds = () => z.int("whole Unix seconds").min(0, "whole Unix seconds").max(LAST_SECOND, "whole Unix seconds");

/** The body of `POST /admin/v1/deliveries/redeliver`. */
export const RedeliveredRange = z.strictObject({
  from: seconds(),
  to: seconds(),
  state: z.enum(["exhausted", "delivered"], "exhausted or delivered").default("exhausted"),
  after: z.string().optional(),
});

/** The delivery endpoints of the admin API. */
export function adminDeliveryRoutes({ admin, readJson }: AdminDeliveryOptions): AdminRoute[] {
  return [
    adminRoute(OPERATOR_ENDPOINTS.listDeliveries, listHandler(admin), {
      parameters: [...TIME_PAGE_PARAMETERS, "state"],
    }),
    adminRoute(OPERATOR_ENDPOINTS.redeliverRange, redeliverRangeHandler(admin, readJson)),
    adminRoute(OPERATOR_ENDPOINTS.readDelivery, getHandler(admin)),
    adminRoute(OPERATOR_ENDPOINTS.readDeliveryRequest, requestHandler(admin), PRIVATE_READ),
    adminRoute(OPERATOR_ENDPOINTS.redeliver, redeliverHandler(admin)),
  ];
}

/**
 * `GET /admin/v1/deliveries?from&to&state&order&limit&after`: `{data, next}` by the time of the event in whole Unix
 * seconds, from `from` inclusive to `to` exclusive; newest first unless `order=asc`.
 */
function listHandler(admin: DeliveryAdmin): Handler {
  return async ({ query }) => {
    const page = readTimePage(query);
    const range = { state: stateIn(new URLSearchParams(query).get("state")), ...readRange(query) };
    const { deliveries, next } = await admin.list(range, page);
    return answerJson({ data: deliveries.map(writeDelivery), next: next && formatCursor(next) });
  };
}

/**
 * `GET /admin/v1/deliveries/:task`: the delivery with its attempts. What a receiver answered can repeat the event, so
 * it is for owners.
 */
function getHandler(admin: DeliveryAdmin): Handler {
  return async ({ params, isOwner = false }) => {
    const found = await admin.read(pathParam(params, "task"));
    if (!found) throw new GatewayError("not_found", "Cannot find a delivery: the task has none");
    return answerJson({
      ...writeDelivery(found.delivery),
      attempt_log: found.attempts.map((each) => writeAttempt(each, isOwner)),
    });
  };
}

/**
 * `GET /admin/v1/deliveries/:task/request`: `{headers, body}`, the signed request as it would be sent now, with the
 * prompt and the signed addresses of results. For owners, and in the audit log.
 */
function requestHandler(admin: DeliveryAdmin): Handler {
  return async ({ params }) => answerJson(await admin.requestOf(pathParam(params, "task")));
}

/** `POST /admin/v1/deliveries/:task/redeliver`: 202 with the delivery, pending again; 409 while it is pending. */
function redeliverHandler(admin: DeliveryAdmin): Handler {
  return async ({ params, request }) => {
    await request.body?.cancel();
    return answerJson(writeDelivery(await admin.redeliver(pathParam(params, "task"))), 202);
  };
}

/**
 * `POST /admin/v1/deliveries/redeliver` `{from, to, state?, after?}`: 202 with `{redelivered, next}`. A call restarts
 * up to 500 deliveries; pass `next` as `after` to continue.
 */
function redeliverRangeHandler(admin: DeliveryAdmin, readJson: ReadJson): Handler {
  return async (inbound) => {
    const { from, to, state, after } = readFields(RedeliveredRange, await readJson(inbound));
    if (to <= from) throw invalidField("to", "expected a time after from");
    const range = { state, from: from * 1_000, to: to * 1_000 };
    const { redelivered, next } = await admin.redeliverRange(range, after === undefined ? null : parseCursor(after));
    return answerJson({ redelivered, next: next && formatCursor(next) }, 202);
  };
}

function stateIn(word: string | null): DeliveryState | null {
  const state = DELIVERY_STATES.find((each) => each === word);
  if (word !== null && state === undefined) throw invalidField("state", `expected ${DELIVERY_STATES.join(" or ")}`);
  return state ?? null;
}

function writeDelivery(delivery: Delivery): JsonObject {
  const { origin, pathname } = new URL(delivery.url);
  return {
    task: delivery.id,
    account: delivery.account === OPERATOR ? null : delivery.account,
    event: eventOf(delivery.status),
    idempotency_key: idempotencyKeyOf(delivery.id, delivery.status),
    url: origin + pathname, // a query may contain a secret of the receiver
    state: delivery.state,
    created_at: secondsOf(delivery.createdAt),
    attempts: delivery.attempts,
    next_attempt_at: delivery.nextAttemptAt === null ? null : secondsOf(delivery.nextAttemptAt),
    settled_at: delivery.settledAt === null ? null : secondsOf(delivery.settledAt),
    body_bytes: delivery.body.bytes,
  };
}

function writeAttempt(attempt: DeliveryAttempt, isOwner: boolean): JsonObject {
  const { number, startedAt, durationMs, status, failure, reason, answerBytes, answerStart } = attempt;
  return {
    number,
    started_at: secondsOf(startedAt),
    duration_ms: durationMs,
    status,
    failure,
    reason,
    answer_bytes: answerBytes,
    answer_start: isOwner ? answerStart ?? null : null,
  };
}
