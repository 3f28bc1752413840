import type { Credential } from "../billing/key_ring.ts";
import type { CallerFormat } from "../conversation/caller_format.ts";
import type { JsonObject } from "../lib/json_object.ts";
import type { Inbound } from "../http/inbound.ts";
import type { JsonBody } from "../http/json_body.ts";
import { readHeaderPin } from "../routing/pin.ts";
import type { TextRequest } from "./attempt.ts";

/** What a protocol adds to a request to make it a turn. */
export interface TurnFacts {
  readonly format: CallerFormat;
  /** As in {@linkcode TextRequest}: for the content form with the path's model and verb in it. */
  readonly body: JsonObject;
  readonly model: string;
  readonly stream: boolean;
  readonly bodyPin: string | null;
  /** Default none. */
  readonly cache?: NonNullable<TextRequest["cache"]> | null;
  /** Default `sse`. */
  readonly framing?: NonNullable<TextRequest["framing"]>;
}

/** A request of any text protocol as a turn. */
export function textRequestOf(inbound: Inbound, credential: Credential, json: JsonBody, facts: TurnFacts): TextRequest {
  const { headers } = inbound.request;
  return {
    requestId: inbound.requestId,
    accountId: credential.accountId,
    receivedAt: inbound.receivedAt,
    bytes: json.bytes,
    scan: json.scan,
    headerPin: readHeaderPin(headers),
    callerSignal: () => inbound.request.signal,
    memory: inbound.memory,
    framing: "sse",
    header: (name) => headers.get(name),
    ...facts,
  };
}
