import type { Authenticate } from "../money/billing/authenticate.ts";
import type { Credential } from "../money/billing/keys/key_ring.ts";
import type { CallParts } from "../services/calls/paid_call.ts";
import type { WholeCaller, WholeResult } from "../services/calls/whole_call.ts";
import type { DatedCatalog } from "../vendors/catalog/catalog.ts";
import type { BodyLimits } from "../platform/http/bodies/body.ts";
import type { Inbound } from "../platform/http/request/inbound.ts";
import { writeMoney } from "../platform/lib/basics/money.ts";
import { readHeaderPin } from "../vendors/routing/pin.ts";
import { droppedFieldsHeader } from "../platform/http/request/dropped_fields_header.ts";
import { jsonBytes, wholeResponse } from "../services/texts/relay/response_headers.ts";

/** The dependencies of endpoints that answer a request in one piece. */
export interface WholeCallParts {
  readonly calls: CallParts;
  readonly catalog: DatedCatalog;
  readonly authenticate: Authenticate;
  /** The limits of their JSON bodies. */
  readonly bodyLimits: BodyLimits;
}

/** The caller of a request. */
export function wholeCallerOf(inbound: Inbound, { accountId, keyId, limits }: Credential): WholeCaller {
  const { requestId, receivedAt, request, memory, record } = inbound;
  return {
    requestId,
    accountId,
    keyId,
    limits,
    receivedAt,
    headerPin: readHeaderPin(request.headers),
    callerSignal: () => request.signal,
    memory,
    record,
  };
}

/** The head of a response that a provider served. */
export interface ServedHead extends Pick<WholeResult<unknown>, "provider" | "model"> {
  readonly contentType: string;
  /** The fields of the request that the provider was not sent. */
  readonly dropped: readonly string[];
}

/** A response that a provider served. */
export interface ServedBody extends ServedHead {
  readonly body: Uint8Array<ArrayBuffer>;
}

/** The header fields of a response. */
export function servedHeaders(
  { record }: Pick<WholeCaller, "record">,
  { provider, model, contentType, dropped }: ServedHead,
): Record<string, string> {
  return {
    "content-type": contentType,
    "x-service-provider": provider,
    "x-service-model": model.id,
    ...record.cost !== null && { "x-service-cost": writeMoney(record.cost) },
    ...dropped.length > 0 && { "x-service-dropped": droppedFieldsHeader(dropped) },
  };
}

/** The response to a request. */
export function servedResponse(caller: Pick<WholeCaller, "record">, served: ServedBody): Response {
  return wholeResponse(caller.record, served.body, servedHeaders(caller, served));
}

/** The response to a request, with a value as JSON. */
export function servedJson(
  caller: Pick<WholeCaller, "record">,
  served: Pick<ServedBody, "provider" | "model" | "dropped">,
  value: unknown,
): Response {
  return servedResponse(caller, { ...served, body: jsonBytes(value), contentType: "application/json" });
}
