import type { Credential } from "../../../money/billing/keys/key_ring.ts";
import type { CallerFormat } from "../../../conversation/contract/caller_format.ts";
import { objectOf } from "../../../conversation/neutral/wire_value.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { isDryRun } from "../../../platform/http/request/dry_run.ts";
import type { Inbound } from "../../../platform/http/request/inbound.ts";
import type { JsonBody } from "../../../platform/http/bodies/json_body.ts";
import { hasInexactNumber } from "../../../platform/lib/json/exact_json.ts";
import { parseWithExactValues } from "../../../conversation/neutral/exact_values.ts";
import { readHeaderPin } from "../../../vendors/routing/pin.ts";
import type { TextRequest } from "../plan/attempt.ts";
import { sessionOf } from "./session_of.ts";

/** The fields that a protocol adds to an inbound request. */
export interface TextRequestFacts {
  readonly format: CallerFormat;
  /** As in {@linkcode TextRequest}. For the content format, it includes the model and the method from the path. */
  readonly body: JsonObject;
  /** As in {@linkcode TextRequest}. Default: the body as received. */
  readonly wholeBody?: () => JsonObject;
  readonly model: string;
  readonly stream: boolean;
  readonly bodyPin: string | null;
  /** Default: none. */
  readonly cache?: NonNullable<TextRequest["cache"]> | null;
  /** Default: `sse`. */
  readonly framing?: NonNullable<TextRequest["framing"]>;
}

/**
 * Creates the text request of any text protocol.
 *
 * @throws {GatewayError} As {@linkcode isDryRun}.
 */
export function textRequestOf(
  inbound: Inbound,
  credential: Credential,
  json: JsonBody,
  facts: TextRequestFacts,
): TextRequest {
  const { headers = inbound.request.headers } = inbound;
  const { format, body, wholeBody = () => json.body, model, stream, bodyPin, cache = null, framing = "sse" } = facts;
  const { record } = inbound;
  record.model = model;
  const session = sessionOf(headers, json.outline);
  if (session !== null) record.session = session;
  const { sent = json.bytes } = json;
  record.requestBytes = sent.length;
  record.capture?.takeRequest(sent);
  return {
    requestId: inbound.requestId,
    accountId: credential.accountId,
    keyId: credential.keyId,
    limits: credential.limits,
    receivedAt: inbound.receivedAt,
    format,
    body,
    wholeBody,
    exactOf: (whole) => withExactValues(whole, json),
    wholeText: (text) => json.wholeText(text),
    outlineText: json.outlineText,
    bytes: json.bytes,
    scan: json.scan,
    model,
    stream,
    framing,
    headerPin: readHeaderPin(headers),
    bodyPin,
    cache,
    ...credential.isUncached === true && { isUncached: true },
    header: (name) => headers.get(name),
    responseFields: inbound.responseFields,
    isDryRun: isDryRun(headers),
    callerSignal: () => inbound.request.signal,
    memory: inbound.memory,
    record,
  };
}

/** The body with the members that were received as they were written, whatever the gateway has set since. */
function withExactValues(body: JsonObject, json: JsonBody): JsonObject {
  if (!hasInexactNumber(json.outlineText)) return body;
  const exact = objectOf(parseWithExactValues(new TextDecoder().decode(json.bytes))) ?? {};
  const isReceived = (name: string) => typeof body[name] === "object" && body[name] === json.body[name];
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [name, isReceived(name) ? exact[name] : value]),
  );
}

/** A request that may name files of the gateway. */
export interface NamingRequest {
  readonly inbound: Inbound;
  readonly credential: Credential;
  readonly format: CallerFormat;
  readonly json: JsonBody;
}

/** Answers requests that name files of the gateway. */
export interface RequestFiles {
  /**
   * Puts the contents of the files into a request.
   *
   * @param answer Answers the request with the contents.
   * @returns What `answer` returns, or the response of another thread.
   * @throws {GatewayError} `not_found` naming the field; `request_too_large`; `invalid_request`; what `answer` throws.
   */
  answer(request: NamingRequest, answer: (json: JsonBody) => Promise<Response>): Promise<Response>;
}

/** The members that name files, in any format. Most requests have none of them. */
const FILE_MEMBER = /file(?:_id|Uri|_uri)/;

/**
 * Answers a request, with the contents of the files that it names. Throws as {@linkcode RequestFiles.answer}.
 *
 * @param answer Answers the request with the contents.
 */
export function withNamedFiles(
  request: NamingRequest,
  files: RequestFiles,
  answer: (json: JsonBody) => Promise<Response>,
): Promise<Response> {
  const { json } = request;
  return FILE_MEMBER.test(json.outlineText) ? files.answer(request, answer) : answer(json);
}
