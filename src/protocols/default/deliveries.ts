import type { Authenticate } from "../../money/billing/authenticate.ts";
import { CALLER_ENDPOINTS as ENDPOINTS } from "../../platform/endpoints/callers.ts";
import { type Inbound, pathParam, type Route } from "../../platform/http/request/inbound.ts";
import { secondsOf } from "../../platform/lib/basics/clock.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import type { Videos } from "../../services/videos/videos.ts";
import type { Delivery, DeliveryAttempt } from "../../services/webhooks/delivery.ts";
import type { DeliveryAdmin } from "../../services/webhooks/delivery_admin.ts";
import { eventOf, idempotencyKeyOf } from "../../services/webhooks/envelope.ts";
import { routesAt } from "../route_at.ts";

/** The dependencies of a task's delivery endpoints. */
export interface DeliveryRouteParts {
  readonly videos: Pick<Videos, "read">;
  readonly admin: DeliveryAdmin;
  readonly authenticate: Authenticate;
}

/**
 * `GET /v1/videos/{id}/deliveries`: the delivery and its attempts. `POST`: delivers again at once. Source:
 * docs/api/webhooks.md#deliveries.
 */
export function deliveryRoutes(parts: DeliveryRouteParts): Route[] {
  return [
    ...routesAt(ENDPOINTS.listVideoDeliveries, (inbound) => list(inbound, parts)),
    ...routesAt(ENDPOINTS.redeliverVideo, (inbound) => redeliver(inbound, parts)),
  ];
}

/** At most one delivery: `data` is empty before the task ends, and without a callback_url. */
async function list(inbound: Inbound, parts: DeliveryRouteParts): Promise<Response> {
  const found = await parts.admin.read(await ownTask(inbound, parts));
  const data = found ? [{ ...writeDelivery(found.delivery), attempts: found.attempts.map(writeAttempt) }] : [];
  return Response.json({ object: "list", data });
}

async function redeliver(inbound: Inbound, parts: DeliveryRouteParts): Promise<Response> {
  await inbound.request.body?.cancel(); // the body is not used
  const id = await ownTask(inbound, parts);
  return Response.json(writeDelivery(await parts.admin.redeliver(id)), { status: 202 });
}

/** The id of the caller's task; throws `not_found` for any other. */
async function ownTask(inbound: Inbound, { videos, authenticate }: DeliveryRouteParts): Promise<string> {
  const { keyId } = await authenticate(inbound);
  return (await videos.read(keyId, pathParam(inbound.params, "id"))).id;
}

function writeDelivery(delivery: Delivery): JsonObject {
  return {
    id: idempotencyKeyOf(delivery.id, delivery.status),
    object: "webhook.delivery",
    event: eventOf(delivery.status),
    url: delivery.url,
    state: delivery.state,
    created_at: secondsOf(delivery.createdAt),
    next_attempt_at: delivery.nextAttemptAt === null ? null : secondsOf(delivery.nextAttemptAt),
    settled_at: delivery.settledAt === null ? null : secondsOf(delivery.settledAt),
    body_bytes: delivery.body.bytes,
  };
}

function writeAttempt(
  { number, startedAt, durationMs, status, failure, reason, answerBytes }: DeliveryAttempt,
): JsonObject {
  return {
    number,
    started_at: secondsOf(startedAt),
    duration_ms: durationMs,
    outcome: failure === null ? "acknowledged" : "failed",
    status,
    failure,
    reason,
    answer_bytes: answerBytes,
  };
}
