import { CALLER_ENDPOINTS as ENDPOINTS } from "../../platform/endpoints/callers.ts";
import { readBody } from "../../platform/http/bodies/body.ts";
import { pathParam, type Route } from "../../platform/http/request/inbound.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import { MAX_RECEIVED_BYTES, type TestReceivers } from "../../services/webhooks/test_receivers.ts";
import { routesAt } from "../route_at.ts";

/** The dependencies of the endpoint of receivers. */
export interface WebhookReceiverParts {
  readonly receivers: Pick<TestReceivers, "isOpen" | "receive">;
  readonly bodyIdleMs: number;
}

/**
 * `POST /webhook-receivers/{id}`: an event for an open receiver. Who knows the address may send to it; the body of a
 * request to another address is not read. Source: docs/api/admin.md#webhook-receivers.
 */
export function webhookReceiverRoutes({ receivers, bodyIdleMs }: WebhookReceiverParts): Route[] {
  return routesAt(ENDPOINTS.receiveWebhook, async (inbound) => {
    const id = pathParam(inbound.params, "id");
    if (!receivers.isOpen(id)) throw new GatewayError("not_found", "Cannot find the receiver");
    const body = await readBody(inbound, { capBytes: MAX_RECEIVED_BYTES, idleMs: bodyIdleMs });
    await receivers.receive(id, { headers: Object.fromEntries(inbound.request.headers), body, via: "network" });
    return Response.json({ received: true });
  });
}
