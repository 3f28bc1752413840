import type { Frame } from "../../platform/lib/streams/frame.ts";
import type { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import type { Conversation } from "../neutral/conversation.ts";
import type { ReplyEvent } from "../neutral/events.ts";
import type { StartedStream } from "./pass_through.ts";
import type { Reply } from "../neutral/reply.ts";
import type { ClampedLimit } from "./clamped_limit.ts";
import type { RequestGrammar } from "./request_grammar.ts";
import type { CallerFormatName } from "../neutral/reasoning_signature.ts";
import type { WriteResult } from "../neutral/write_result.ts";

/** What a reply repeats of its request, and what its ids and times are made from. */
export interface ReplyContext {
  /** The model as the caller named it. */
  readonly model: string;
  /** The gateway's id of the request. Ids are made from it where the vendor's cannot be used. */
  readonly requestId: string;
  /** Unix seconds, used where the vendor reported no time. */
  readonly createdAt: number;
  /** The request, for formats that echo settings; null when it was not parsed. */
  readonly conversation: Conversation | null;
  /** True when the caller asked for usage in the stream (chat format: `stream_options.include_usage`). */
  readonly includeUsage: boolean;
  /** What the caller has already received, when a failure is written after a vendor's own frames; otherwise absent. */
  readonly startedStream?: StartedStream | null;
}

/** Writes neutral events as the frames of one caller's stream. One instance per stream. */
export interface EventWriter {
  /** The frames of one event. `finish` includes the format's end marker. An `error` event is written as by `fail`. */
  write(event: ReplyEvent): Frame[];
  /**
   * The frame of more text of an open part as it is sent, with its blank line: the same as {@linkcode write} for a
   * `part-delta` without tokens, without the cost of its objects. Null where only `write` can write it.
   */
  writeText(index: number, text: string): string | null;
  /** The frames that report a failure after the first byte. The stream ends after them. */
  fail(error: GatewayError): Frame[];
  /**
   * An event that clients of the format count as a sign of life, where they do not count comments; null while they
   * would fail on it. Absent in formats whose heartbeat suffices.
   */
  keepalive?(): Frame | null;
}

/** A limit of output tokens as a request sets it. */
export interface RequestedLimit {
  /** In the caller's spelling: `generationConfig.maxOutputTokens`. */
  readonly field: string;
  /** As sent; may be more than the model can write. */
  readonly tokens: number;
}

/** Parts of a reply that clients of a format do not send back, so that the gateway stores them. */
export interface ReplayPolicy {
  /**
   * The signatures of a reply that are stored. `all`: every one. `last`: those that would end the reply, which its
   * writer then leaves out. `none`: the format carries every signature itself.
   */
  readonly signatures: "all" | "last" | "none";
  /** Whether clients send output items back by id only. */
  readonly items: boolean;
}

/**
 * The side of a wire format that faces callers: reads requests, writes replies. It has no clock, network access or
 * store. Tests check it against the other side, {@linkcode UpstreamFormat}.
 */
export interface CallerFormat {
  /** The format that it reads and writes. */
  readonly name: CallerFormatName;
  /** Who defined the format. Formats of one author share their error bodies. */
  readonly author: FormatAuthor;
  /**
   * This format's names of what a reply lost, by their neutral names. A name without an entry is reported unchanged.
   */
  readonly replyFieldNames: Readonly<Record<string, string>>;
  /**
   * The fields of a request that were not sent to the vendor, in the caller's spelling.
   *
   * @param droppedFields Neutral names, from the writer of the vendor's format.
   */
  droppedFields(body: JsonObject, droppedFields: readonly string[]): string[];

  /**
   * Checks the rules that hold for every target, also when the bytes pass through: required fields, types, ranges,
   * roles, pairs of calls and results. Unknown fields and unknown kinds of parts are accepted, so that features that a
   * vendor adds later work without a change here.
   *
   * @throws {GatewayError} `invalid_request`, naming the field.
   */
  check(body: JsonObject): void;
  /**
   * Refuses parts, items and tools of a type that the format does not have: a mistake such as `txt` would empty the
   * message of a translated request. A request that passes through is left to the vendor, which may know more.
   * Source: docs/api/text.md#unknown-types.
   *
   * @throws {GatewayError} `invalid_request` that names the field and the expected types.
   */
  refuseUnknownTypes(body: JsonObject): void;
  /**
   * Reads a checked request into the neutral form.
   *
   * @throws {GatewayError} `invalid_request` for a field that the reply depends on and that has no neutral form.
   */
  read(body: JsonObject): Conversation;

  /** Writes a whole reply for a caller of this format. */
  writeReply(reply: Reply, context: ReplyContext): WriteResult<JsonObject>;
  /** Creates the writer of one caller's stream. */
  eventWriter(context: ReplyContext): EventWriter;
  /** The body that reports a failure before the first byte. */
  writeError(error: GatewayError, requestId: string): JsonObject;
  /** What is sent between two frames to keep a stream alive; null where clients of the format fail on it. */
  readonly heartbeat: Frame | "comment" | null;

  /** The names from the root of an event to its usage, for the events of a stream that report usage at the end. */
  readonly streamUsagePath: readonly string[];
  /** Whether the caller asked for usage in the stream. Always true in formats that always report it. */
  wantsUsage(body: JsonObject): boolean;
  /** The largest output limit that the request sets, as vendors differ in which field they read; null for none. */
  requestedLimit(body: JsonObject): RequestedLimit | null;
  /**
   * Lowers output limits above the model's own, and reasoning budgets that then no longer fit. Agents send one limit to
   * every model, and vendors reject a limit above the model's own.
   *
   * @param most The model's limit of output tokens.
   * @returns Null when no limit is above it.
   */
  clampLimit(body: JsonObject, most: number): ClampedLimit | null;
  /** True where the format counts reasoning towards the request's limit, so that the limit holds for any vendor. */
  readonly limitIncludesReasoning: boolean;
  /** Fields of a request that name a service tier. */
  readonly tierFields: readonly string[];
  /**
   * Whether the image models of the multimodal series are served in this format. Source:
   * docs/api/images.md#series.
   */
  readonly servesImageModels: boolean;
  /**
   * The first field set that is not allowed beside a cached content, which already holds such settings; null for none.
   */
  cacheConflict(body: JsonObject): string | null;
  /** Whether the format has a stop reason for an invalid call of the model. In others it is a failure. */
  readonly reportsInvalidCalls: boolean;
  /** What the gateway stores for callers of this format between requests. */
  readonly replay: ReplayPolicy;
  /** How to find references to vendor state, hosted tools and the caller's own data in a request. */
  readonly grammar: RequestGrammar;
}

/** Who defined a wire format. */
export type FormatAuthor = "openai" | "anthropic" | "google" | "amazon";

/**
 * Checks a request, then reads it.
 *
 * @throws {GatewayError} As {@linkcode CallerFormat.check} and {@linkcode CallerFormat.read}.
 */
export function readChecked(format: CallerFormat, body: JsonObject): Conversation {
  format.check(body);
  return format.read(body);
}
