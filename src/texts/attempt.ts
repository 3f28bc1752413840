import type { CacheReference } from "../caches/reference.ts";
import type { CallParts } from "../calls/paid_call.ts";
import type { Settlement } from "../calls/settlement.ts";
import type { LiveStreams } from "../calls/stream_relay.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Model } from "../catalog/model.ts";
import type { CallerFormat } from "../conversation/caller_format.ts";
import type { JsonObject } from "../lib/json_object.ts";
import type { FieldSource } from "../http/headers.ts";
import type { ClampedLimit } from "../conversation/clamped_limit.ts";
import type { JsonScan } from "../lib/json.ts";
import type { MemoryLease } from "../lib/memory_budget.ts";
import type { Candidate } from "../routing/candidates.ts";
import type { StateOwnership } from "../ownership/state_ownership.ts";
import type { Store } from "../store/store.ts";
import type { Provider } from "../upstreams/provider.ts";
import type { TextEndpoint } from "../upstreams/upstream.ts";
import type { MediaInliner } from "./inline_media.ts";
import type { ItemMemory } from "./item_memory.ts";
import type { MissingCounters } from "./missing_counters.ts";
import type { ReasoningMemory } from "./reasoning_memory.ts";
import type { TextMeasure } from "./text_reservation.ts";

/** One request for text, as a protocol hands it over: admitted, parsed, not yet checked. */
export interface TextRequest {
  readonly requestId: string;
  readonly accountId: string;
  /** Unix milliseconds. */
  readonly receivedAt: number;
  /** The format that the caller speaks. */
  readonly format: CallerFormat;
  readonly body: JsonObject;
  /** The body as it came, with its outline, for passing through. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly scan: JsonScan;
  /** What of `body` was lowered to the model's limit, and is not so in `bytes`; nothing when left out. */
  readonly lowered?: ClampedLimit;
  /** The model as the caller named it. */
  readonly model: string;
  readonly stream: boolean;
  /** How a stream is framed; `json_array` is the content protocol's other form. */
  readonly framing: "sse" | "json_array";
  readonly headerPin: string | null;
  readonly bodyPin: string | null;
  /** The cached content that it builds on, found and permitted; none when left out. */
  readonly cache?: CacheReference | null;
  /** The header fields of the request. */
  readonly header: FieldSource;
  /** Gives the signal that fires when the caller leaves. */
  readonly callerSignal: () => AbortSignal;
  /** Pays for what is read for the turn. */
  readonly memory: MemoryLease;
}

/** One turn on its way to one provider. */
export interface TextAttempt {
  readonly turn: TextRequest;
  readonly model: Model;
  /** Has the prices of other models that help with a reply. */
  readonly catalog: Catalog;
  readonly candidate: Candidate;
  readonly provider: Provider;
  readonly endpoint: TextEndpoint;
  readonly settlement: Settlement;
  /** What the turn may consume at most. */
  readonly measure: TextMeasure;
}

/** The limit of output tokens that the gateway sets because the balance does not cover the model's own; else null. */
export function outputLimitOf({ settlement }: Pick<TextAttempt, "settlement">): number | null {
  return settlement.admission.reserved.outputLimit;
}

/** Whether caller and vendor speak one format. */
export function speakAlike({ format }: Pick<TextRequest, "format">, endpoint: TextEndpoint): boolean {
  return format.name === endpoint.format.name;
}

/** What turns are made with. */
export interface TextParts extends CallParts {
  readonly catalog: Catalog;
  readonly live: LiveStreams;
  readonly memory: ReasoningMemory;
  readonly items: ItemMemory;
  readonly store: Store;
  readonly vendorState: StateOwnership;
  readonly inliner: MediaInliner;
  readonly missingCounters: MissingCounters;
}
