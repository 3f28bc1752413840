import type { ByteParts } from "../../platform/lib/bytes/byte_parts.ts";
import type { JsonScan } from "../../platform/lib/json/json.ts";
import type { Frame } from "../../platform/lib/streams/frame.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import type { ReplyEvent } from "../neutral/events.ts";
import type { IssuedId, StatePolicy } from "./issued_ids.ts";
import type { ModelFacts } from "../facts/model_facts.ts";
import type { Quirks } from "./quirks.ts";
import type { Usage } from "../neutral/usage.ts";
import type { ToolPropertyNames, WriteResult } from "../neutral/write_result.ts";

/** A checked request that is passed through to a vendor of the caller's own format. */
export interface PassThroughRequest {
  /** The body as received. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The JSON outline of `bytes`. */
  readonly scan: JsonScan;
  /** The body without long texts. */
  readonly body: JsonObject;
  /** Returns the whole body. */
  readonly wholeBody: () => JsonObject;
  /** Top-level members of `body` that differ from `bytes`. */
  readonly changed: Readonly<Record<string, unknown>>;
  /** The vendor's name of the model. */
  readonly model: string;
  /** An output limit that the gateway sets; null to keep the caller's. */
  readonly outputLimit: number | null;
  /** The vendor's name of the cached content that the request uses; null for none. */
  readonly cachedContent: string | null;
  /** Deviations of the provider from its format. */
  readonly quirks: Quirks;
  /** The version of the vendor's interface that the caller names, if the vendor may receive it; null for none. */
  readonly version: string | null;
  /** Whether the reasoning of earlier turns is left out, because the vendor has refused it. */
  readonly dropsReasoning: boolean;
  /** What the model takes and refuses. */
  readonly facts: ModelFacts;
  /** The provider's id. Signatures of other providers and of its other credentials are removed. */
  readonly provider: string;
  /** Whether another provider or credential may get the next request, so that signatures need their maker's name. */
  readonly hasOtherMakers: boolean;
  /** The JSON text of `body` as received, for searches. */
  readonly outlineText: string;
  /** Looks up an output item that the gateway issued to the account, by id; null when the gateway did not issue it. */
  readonly issuedItem: (id: string) => JsonObject | null;
}

/** Observes a stream that passes through. One instance per stream. */
export interface StreamWatcher {
  /**
   * True when the text may contain anything of interest: a fast search, so that most of a stream is not parsed.
   *
   * @param text Whole frames as received, or the data of one. Its JSON may have whitespace and line breaks between any
   * two tokens, and a line of data may end there.
   */
  isRelevant(text: string): boolean;
  /** Reads the data of one frame. A running total of usage replaces the previous one. */
  observe(data: string): void;
  /** The usage so far; null when none was reported. */
  usage(): Usage | null;
  /** The vendor's name of the model that answers, as far as it was observed; null if it is unknown. */
  model(): string | null;
  /** True when the reply is complete, as opposed to cut off. */
  isComplete(): boolean;
  /** True after the format's end marker: nothing that follows is charged. */
  isFinal(): boolean;
  /**
   * True for the data of a frame that was observed just now and may be the last that reports usage to the caller: a
   * fast search.
   */
  mayEndUsage(data: string): boolean;
  /** True for the data of a frame that the gateway requested and the caller did not. */
  isHidden(data: string): boolean;
  /**
   * What the stream has stated about its reply, in formats whose failures repeat it; absent in others.
   *
   * @param last The last frames that the caller received, unchanged.
   */
  startedStream?(last: string): StartedStream | null;
  /** The failure that a frame reports; null where it reports none. */
  failureIn(data: string): ReplyEvent & { readonly type: "error" } | null;
}

/** What a stream that passes through has stated about its reply so far. */
export interface StartedStream {
  /** The vendor's id of the reply. */
  readonly id: string;
  /** Unix seconds; null where the vendor did not report it. */
  readonly createdAt: number | null;
  /** The sequence number of the next event. */
  readonly sequence: number;
}

/** Finds ids of state stored by the vendor in replies of a format. */
export interface IssuedIdReader {
  /** Whether text may contain such an id: a fast search. @param text Whole lines, Latin-1 or decoded. */
  mayIssue(text: string, policy: StatePolicy): boolean;
  /** The ids in a whole reply or one frame of a stream. @param value The parsed JSON. */
  issuedIn(value: unknown, policy: StatePolicy): readonly IssuedId[];
}

/** A request that is ready to be sent. */
export interface PreparedRequest extends WriteResult<ByteParts> {
  /** Writes replies with the caller's names where the request has others. Absent if it has none. */
  readonly restorer?: ReplyRestorer;
}

/** Writes replies that pass through with the caller's names. */
export interface ReplyRestorer {
  /** The names that it restores, from which `PassThrough.restorerOf` creates it in another thread. */
  readonly names: ToolPropertyNames;
  /** The maker whose name signatures get; absent if they stay as they are. */
  readonly issuer?: string;
  /**
   * Returns the bytes for the caller.
   *
   * @param bytes A whole reply as received.
   * @param reply Its value.
   */
  whole(bytes: Uint8Array<ArrayBuffer>, reply: unknown): Uint8Array<ArrayBuffer>;
  /** Creates the restorer of a stream. */
  stream(): StreamRestorer;
}

/** Restores the caller's names in one stream. */
export interface StreamRestorer {
  /** True when the text may contain a frame to change: a fast search, as {@linkcode StreamWatcher.isRelevant}. */
  isRelevant(text: string): boolean;
  /** The frames that replace a frame with this data; null to keep it. Called for each frame in turn. */
  restore(data: string): readonly Frame[] | null;
}

/** Passes bytes through when caller and vendor speak one format. Source: docs/api/text.md#pass-through. */
export interface PassThrough {
  /** The request for the vendor: the caller's bytes, except for what must differ. Its long parts are views of them. */
  prepare(request: PassThroughRequest): PreparedRequest;
  /** The vendor's name of the model that a whole reply names; null if it names none. */
  modelIn(reply: unknown): string | null;
  /** Creates the observer of a stream. */
  watch(body: JsonObject): StreamWatcher;
  /** Creates a restorer. Absent in formats whose requests keep the caller's names. */
  restorerOf?(names: ToolPropertyNames): ReplyRestorer;
  /** Creates what adds the maker's name to signatures. Absent in formats whose signatures are read by every maker. */
  wrapperOf?(issuer: string): ReplyRestorer;
  /** Finds ids of vendor state in replies; null in formats that have none. */
  readonly issuedIds: IssuedIdReader | null;
}
