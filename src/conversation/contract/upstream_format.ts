import type { Frame } from "../../platform/lib/streams/frame.ts";
import type { FailureReason } from "../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import type { FormatAuthor } from "./caller_format.ts";
import type { LateContinuation } from "./continuation.ts";
import type { Conversation } from "../neutral/conversation.ts";
import type { ReplyEvent } from "../neutral/events.ts";
import type { ModelFacts } from "../facts/model_facts.ts";
import type { Quirks } from "./quirks.ts";
import type { Reply } from "../neutral/reply.ts";
import type { WireFormatName } from "../neutral/reasoning_signature.ts";
import type { Usage } from "../neutral/usage.ts";
import type { WriteResult } from "../neutral/write_result.ts";

/** The model that a request is sent to, with its capabilities and those of its provider. */
export interface RequestTarget {
  /** The vendor's name of the model. */
  readonly model: string;
  /** The provider's name. Signatures of other providers and formats are dropped, reported as `reasoning_signature`. */
  readonly provider: string;
  /** The model's own limit of output tokens, for formats that require one; null when the catalog has none. */
  readonly maxOutputTokens: number | null;
  /** What the model supports. */
  readonly facts: ModelFacts;
  /** Deviations of the provider from the format that its author documents. */
  readonly quirks: Quirks;
  /** True when the model's vendor offers a web search that the caller may use. */
  readonly hasWebSearch?: boolean;
}

/** Where the requests of a format can mark the end of a prefix to cache, beside texts and media of users. */
export interface CachePlaces {
  /** The tokens of the shortest prefix that is cached. */
  readonly minTokens: number;
  /** Whether the last tool can be marked. */
  readonly tools: boolean;
  /** Whether the instructions can be marked. */
  readonly instructions: boolean;
  /** Whether results of tools can be marked. */
  readonly results: boolean;
}

/** Reads the frames of one vendor's stream as neutral events. One instance per stream. */
export interface EventReader {
  /**
   * The events of one frame; none for a frame without meaning.
   *
   * @param frame As received.
   * @throws {SyntaxError} If the data is not JSON.
   */
  read(frame: Frame): ReplyEvent[];
  /**
   * Called at the end of the vendor's stream. Closes open parts, and gives `finish` if the format has no end marker and
   * a stop reason was received. Gives nothing after `finish`. A stream without `finish` was cut off.
   */
  end(): ReplyEvent[];
}

/** Reads the bytes of one vendor's stream, whatever the framing, as neutral events. One instance per stream. */
export interface StreamReader {
  /**
   * Gives the events that these bytes complete, one by one, so that those before a failure are given before it is
   * thrown. Reads nothing after `finish`.
   *
   * @throws {SyntaxError} If a frame is not JSON.
   * @throws {RangeError} If a frame exceeds the limits of a reply.
   */
  push(bytes: Uint8Array, onEvent: (event: ReplyEvent) => void): void;
  /** Called at the end of the vendor's stream; see {@linkcode EventReader.end}. Ignores a frame that was cut off. */
  end(onEvent: (event: ReplyEvent) => void): void;
}

/** Callbacks of a stream reader. */
export interface StreamReaderOptions {
  /** Called with the data of each frame before it is read. */
  readonly onData?: (data: string) => void;
  /** Called with the number of buffered bytes of an unfinished frame; an exception ends the reading. */
  readonly onBufferedBytes?: (bytes: number) => void;
}

/** The model of a request with the quirks of its provider. */
export type FactTarget = Pick<RequestTarget, "facts" | "quirks">;

/** What models refuse in a format although their vendor takes it in another one. Source: the facts of models. */
export interface FormatRefusals {
  /**
   * Returns the fields that the model refuses; empty for a request that it takes.
   *
   * @param body The request's members in this format, as the caller sent them.
   */
  refusedFields(body: JsonObject, target: FactTarget): readonly string[];
  /** Returns the first field of a request that only this format has; null for none. */
  exclusiveField(body: JsonObject): string | null;
  /**
   * Whether the model may refuse a request of another format in this one. Efforts are not looked at.
   *
   * @param offered Whether the request offers tools, whether it names stop sequences, and whether it may have
   * documents.
   */
  mayRefuse(
    offered: { readonly tools: boolean; readonly stop: boolean; readonly files: boolean },
    target: FactTarget,
  ): boolean;
}

/**
 * The side of a wire format that faces vendors: writes requests, reads replies. It has no clock, network access or
 * store. The other side is `CallerFormat`.
 */
export interface UpstreamFormat {
  /** The format that it writes and reads. */
  readonly name: WireFormatName;
  /** Who defined the format. Formats of one author share their error bodies. */
  readonly author: FormatAuthor;

  /**
   * Writes a request in this format. The result lists the fields that it leaves out.
   *
   * @throws {GatewayError} `invalid_request` when the request depends on a field that the format does not have.
   */
  writeRequest(conversation: Conversation, target: RequestTarget): WriteResult<JsonObject>;
  /** Whether a model of the format's author can search the web when a request asks for it. */
  hasWebSearch(model: string): boolean;
  /**
   * Reads a whole reply, not streamed.
   *
   * @throws {TypeError} If it is not a reply of this format.
   */
  readReply(body: unknown): Reply;
  /** The usage in a whole reply; null when it reports none. */
  readUsage(body: unknown): Usage | null;
  /**
   * Reads what the vendor left out of the request, by neutral names, from a whole reply or from the first event of a
   * stream. Absent: vendors of the format do not report it.
   */
  readDroppedFields?(body: unknown): readonly string[];
  /** Reads a vendor's error body. */
  readError(body: unknown): VendorError;
  /** Creates the reader of a vendor's stream. Its signatures have no issuer; the caller of the reader adds it. */
  streamReader(options?: StreamReaderOptions): StreamReader;
  /** The media type of a vendor's stream. Default: `text/event-stream`. */
  readonly streamMediaType?: string;

  /** Request headers by which callers of this format enable features, in lower case. */
  readonly forwardedHeaders: readonly string[];
  /**
   * Response headers in which a vendor reports its version and timing, in lower case. Rate limits are not among them:
   * they show what other callers use.
   */
  readonly reportedHeaders: readonly string[];
  /** Whether an image's address may point to any file, which the vendor then reads. */
  readonly takesAnyFile: boolean;
  /**
   * Whether a vendor refused the reasoning of earlier turns: it is bound to the model, the account and the conversation
   * before it. The request is sent once more without it. Absent: the format has no such refusal.
   */
  readonly refusesReasoning?: (error: Pick<VendorError, "message" | "code">) => boolean;
  /** How replies go on after the vendor's limit for one request. Absent: they do not. */
  readonly continuation?: LateContinuation;
  /** What models refuse in this format only. Absent: nothing. */
  readonly refusals?: FormatRefusals;
  /** Whether the format has a field for stop sequences. */
  readonly hasStop: boolean;
  /** Whether its vendors accept audio in a turn. */
  readonly takesAudio: boolean;
  /** Whether a translated request can name a service tier; `tier` is the caller's name for it, in lower case. */
  supportsTier(tier: string): boolean;
  /**
   * How a request asks a vendor to cache a prefix: by marks on parts, by a key that equal prefixes share, or not at
   * all.
   *
   * @param quirks Of the provider.
   */
  cacheHint(quirks: Quirks): "marks" | "key" | null;
  /** Where a request to the model can be marked so that its vendor caches a prefix; null if it caches at no marks. */
  cachePlaces(target: Pick<RequestTarget, "model" | "facts" | "quirks">): CachePlaces | null;
}

/** A vendor's error, read from its body. */
export interface VendorError {
  /** The message; empty when the body has none. */
  readonly message: string;
  /** The code, such as `context_length_exceeded` or `RESOURCE_EXHAUSTED`; null when the body has none. */
  readonly code: string | null;
  /** The field that it names; null for none. */
  readonly field: string | null;
  /** Distinguishes failures with the same code; absent when the body has none. */
  readonly reason?: FailureReason;
  /** From `RetryInfo` or an equivalent; null when the body has none. */
  readonly retryAfterSeconds: number | null;
}
