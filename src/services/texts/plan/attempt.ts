import type { CacheReference } from "../../caches/reference.ts";
import type { CallParts } from "../../calls/paid_call.ts";
import type { Settlement } from "../../calls/settlement.ts";
import type { OpenStreams } from "../../calls/stream_relay.ts";
import type { Catalog, DatedCatalog } from "../../../vendors/catalog/catalog.ts";
import type { Model } from "../../../vendors/catalog/model.ts";
import type { CallerFormat } from "../../../conversation/contract/caller_format.ts";
import type { Usage } from "../../../conversation/neutral/usage.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { type FieldSource, requestHeadersOf } from "../../../platform/http/request/headers.ts";
import type { Inbound } from "../../../platform/http/request/inbound.ts";
import type { RequestRecord } from "../../../platform/http/request/request_record.ts";
import type { ClampedLimit } from "../../../conversation/contract/clamped_limit.ts";
import type { JsonScan } from "../../../platform/lib/json/json.ts";
import type { LimitedCaller } from "../../../money/limits/limited_caller.ts";
import type { HeldMemory } from "../../../platform/lib/process/memory_budget.ts";
import type { Candidate } from "../../../vendors/routing/candidates.ts";
import type { StateOwnership } from "../../ownership/state_ownership.ts";
import type { Store } from "../../../platform/store/store.ts";
import type { Provider } from "../../../vendors/upstreams/contract/provider.ts";
import type { TextEndpoint } from "../../../vendors/upstreams/contract/upstream.ts";
import type { MediaInliner } from "./inline_media.ts";
import type { ItemMemory } from "../memory/item_memory.ts";
import type { MissingTokenCounters } from "./missing_token_counters.ts";
import type { PrefixMemory } from "../memory/prefix_memory.ts";
import type { ReasoningMemory } from "../memory/reasoning_memory.ts";
import type { TextMaximum } from "./text_reservation.ts";

/** A request for text as a protocol passes it on: admitted and parsed, not validated. */
export interface TextRequest {
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  /** The limits of the key and its account. */
  readonly limits: LimitedCaller["limits"];
  /** Unix milliseconds. */
  readonly receivedAt: number;
  /** The caller's format. */
  readonly format: CallerFormat;
  /**
   * The body without long texts, see `JsonBody.outline`. The texts of a conversation must be read from `wholeBody`.
   */
  readonly body: JsonObject;
  /** Returns the whole body. The first call may parse it. */
  readonly wholeBody: () => JsonObject;
  /** The whole body with the numbers of tools as the caller wrote them, see `parseWithExactValues`. */
  readonly exactOf: (wholeBody: JsonObject) => JsonObject;
  /** Returns the string of the whole body that a string of `body` represents. */
  readonly wholeText: (text: string) => string;
  /** The JSON text of `body`, before any changes. */
  readonly outlineText: string;
  /** The body as received, with the positions of its members, for passing through. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly scan: JsonScan;
  /** The limit that `body` lowers to the model's maximum and `bytes` does not. Absent if none was lowered. */
  readonly clampedLimit?: ClampedLimit;
  /** The model as the caller named it. */
  readonly model: string;
  readonly stream: boolean;
  /** The framing of a stream. `json_array` is the second framing of the content protocol. */
  readonly framing: "sse" | "json_array";
  /** Whether the request is only checked and priced. Default: false. */
  readonly isDryRun?: boolean;
  readonly headerPin: string | null;
  readonly bodyPin: string | null;
  /** The cached content that the request refers to, found and permitted. Absent if there is none. */
  readonly cache?: CacheReference | null;
  /** Whether the key or the account wants no prompt caching by the gateway. Default: it does. */
  readonly isUncached?: boolean;
  /** The header fields of the request. */
  readonly header: FieldSource;
  /** Returns the header fields of every response to the request, as `Inbound.responseFields`. */
  readonly responseFields?: Inbound["responseFields"] | undefined;
  /** Returns the signal that fires when the caller disconnects. */
  readonly callerSignal: () => AbortSignal;
  /** Accounts for the memory of everything that is read for the request. */
  readonly memory: HeldMemory;
  /** Collects what happens to the request. */
  readonly record: RequestRecord;
}

/** The requests to a vendor that make one reply. */
export interface AttemptHops {
  /** The requests so far. */
  readonly count: number;
  /** The usage of all requests so far; null if none was reported. */
  usageAt(attempt: Pick<TextAttempt, "endpoint">): Usage | null;
  /** The prompt tokens of the last request, which decide on its price. */
  promptTokensAt(attempt: Pick<TextAttempt, "endpoint">): number;
}

/** One attempt to serve a request at one provider. */
export interface TextAttempt {
  readonly request: TextRequest;
  readonly model: Model;
  /** Contains the prices of other models that contribute to a reply. */
  readonly catalog: Catalog;
  readonly candidate: Candidate;
  readonly provider: Provider;
  readonly endpoint: TextEndpoint;
  readonly settlement: Settlement;
  /** Whether the reasoning of earlier turns is left out, because the vendor has refused it. Default: it is not. */
  readonly dropsReasoning?: boolean;
  /** Unix milliseconds at which the attempt began, which decides on its price. */
  readonly begunAt: number;
  /** The maximum that the request may consume. */
  readonly measure: TextMaximum;
  /** The requests that make the reply. Absent for a model that does not go on in further requests. */
  readonly hops?: AttemptHops;
  /** The other models whose price the reservation covers. Default: none. */
  readonly others?: readonly Model[];
  /** Whether it is a line of a vendor's batch: one request at the price of batches. Default: it is not. */
  readonly isBatched?: boolean;
  /** The known model that answered in the place of the requested one, which decides on the price. */
  readonly answeredBy?: Model;
}

/**
 * Returns the limit of output tokens that the gateway sets because the balance does not cover the model's own limit.
 * Null if it sets none.
 */
export function outputLimitOf({ settlement }: Pick<TextAttempt, "settlement">): number | null {
  return settlement.admission.reserved.outputLimit;
}

/** Whether the caller and the vendor use the same format. */
export function isSameFormat({ format }: Pick<TextRequest, "format">, endpoint: TextEndpoint): boolean {
  return format.name === endpoint.format.name;
}

/** What is sent of the header fields by which a caller enables features of its format. */
export interface ForwardedFields {
  readonly headers: Readonly<Record<string, string>>;
  /** The members of the body in which some vendors read them instead. */
  readonly members: JsonObject;
  /** The names of fields that the vendor does not support as they were sent. */
  readonly droppedFields: readonly string[];
}

const NOTHING_MOVED = { members: {}, droppedFields: [] };

/** Returns the caller's header fields as the vendor reads them. */
export function forwardedFields({ request, endpoint }: Pick<TextAttempt, "request" | "endpoint">): ForwardedFields {
  const headers = requestHeadersOf(request.header, endpoint.format.forwardedHeaders);
  return endpoint.fieldsInBody === undefined
    ? { headers, ...NOTHING_MOVED }
    : { headers: {}, ...endpoint.fieldsInBody(headers) };
}

/** The services that text requests use. */
export interface TextParts extends CallParts {
  readonly catalog: DatedCatalog;
  readonly openStreams: OpenStreams;
  readonly reasoning: ReasoningMemory;
  /** The prompts that vendors have read. */
  readonly prefixes: PrefixMemory;
  readonly items: ItemMemory;
  readonly store: Store;
  readonly vendorState: StateOwnership;
  readonly mediaInliner: MediaInliner;
  readonly missingTokenCounters: MissingTokenCounters;
}
