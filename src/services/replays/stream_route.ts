import type { Authenticate } from "../../money/billing/authenticate.ts";
import type { DatedCatalog } from "../../vendors/catalog/catalog.ts";
import { type Handler, type Inbound, pathParam } from "../../platform/http/request/inbound.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import { checkAccess } from "../../money/limits/permission.ts";
import type { KeptStreams } from "./kept_streams.ts";
import { checkReplyPermitted } from "./permitted_reply.ts";
import type { StreamPlaces } from "./stream_places.ts";

/** The dependencies of {@linkcode streamHandler}. */
export interface StreamHandlerOptions {
  readonly authenticate: Authenticate;
  readonly streams: KeptStreams;
  /** All models. */
  readonly catalog: DatedCatalog;
  /** Finds those that other gateways keep; null if no other gateway can be on the store. */
  readonly places: StreamPlaces | null;
}

/** The events of a stream after `Last-Event-ID`. Source: docs/api/resuming.md. */
export function streamHandler({ authenticate, streams, catalog, places }: StreamHandlerOptions): Handler {
  return async (inbound) => {
    const { accountId, limits } = await authenticate(inbound);
    const id = pathParam(inbound.params, "id");
    const lastId = lastIdIn(inbound);
    // A stream of another account is not distinguished from a missing one.
    const stream = streams.find(accountId, id);
    if (stream === null) {
      const elsewhere = await places?.read(inbound, accountId, id) ?? null;
      if (elsewhere !== null) return elsewhere;
      throw new GatewayError("not_found", `No stream of this account is kept for the request "${id.slice(0, 100)}"`);
    }
    // The key may be another one of the account, or may have lost the model since.
    if (limits !== null) checkAccess(limits, stream.facts.endpoint, inbound.remote);
    checkReplyPermitted(stream.facts.headers, limits, catalog.at(inbound.receivedAt));
    const events = stream.read(lastId);
    if (events === null) return new Response(null, { status: 204 });
    const headers = stream.facts.headers.map(([name, value]): [string, string] => [name, value]);
    return new Response(events, { headers });
  };
}

/** The id of the last event that the caller has; 0 for none. */
function lastIdIn({ request, headers = request.headers }: Inbound): number {
  const value = headers.get("last-event-id");
  if (value === null || value === "") return 0;
  if (/^\d{1,15}$/.test(value)) return Number(value);
  throw new GatewayError("invalid_request", 'Cannot read the header "Last-Event-ID": expected the id of an event', {
    field: "Last-Event-ID",
  });
}
