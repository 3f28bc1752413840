import type { Frame } from "../lib/frame.ts";
import type { GatewayError } from "../lib/gateway_error.ts";
import type { JsonObject } from "../lib/json_object.ts";
import type { Conversation } from "./conversation.ts";
import type { ReplyEvent } from "./events.ts";
import type { BegunStream } from "./pass_through.ts";
import type { Reply } from "./reply.ts";
import type { LoweredLimit } from "./lowered_limit.ts";
import type { RequestGrammar } from "./request_grammar.ts";
import type { Form } from "./seal.ts";
import type { Written } from "./written.ts";

/** What a reply repeats of its request. */
export interface ReplyContext {
  /** The model as the caller named it. */
  readonly model: string;
  /** The gateway's id of the request, from which ids are made where the vendor's cannot be kept. */
  readonly requestId: string;
  /** Unix seconds, used where the vendor gave none. */
  readonly createdAt: number;
  /** The request, for formats that echo settings; null when it was not read. */
  readonly conversation: Conversation | null;
  /** True when the caller asked for usage in the stream (chat format: `stream_options.include_usage`). */
  readonly includeUsage: boolean;
  /** What the caller was told already, where a failure is written behind a vendor's own frames; absent otherwise. */
  readonly begun?: BegunStream | null;
}

/** Turns neutral events into the frames of one caller's stream. One per stream. */
export interface EventWriter {
  /**
   * The frames of one event; those of `finish` include the format's end mark. An `error` event is written as by `fail`.
   */
  write(event: ReplyEvent): Frame[];
  /** The frames by which this format reports a failure after the first byte; the stream ends after them. */
  fail(error: GatewayError): Frame[];
}

/** A limit of output tokens as a request sets it. */
export interface RequestedLimit {
  /** In the caller's spelling: `generationConfig.maxOutputTokens`. */
  readonly field: string;
  /** As sent, so possibly more than the model can write. */
  readonly tokens: number;
}

/** What callers of a format do not send back. */
export interface CallerMemory {
  /**
   * The seals of a reply: `all`; `last`, those that would end it, so that its writer leaves them out; `none` where the
   * format carries all.
   */
  readonly seals: "all" | "last" | "none";
  /** Whether output items come back by their ids alone. */
  readonly items: boolean;
}

/**
 * The side of a wire format that faces callers: requests are read, replies are written. Pure: no clock, no fetch, no
 * store. Tests hold it and the other side, {@linkcode UpstreamFormat}, to each other.
 */
export interface CallerFormat {
  /** The format that it reads and writes. */
  readonly name: Form;
  /** Who defined the format; formats of one author share their errors. */
  readonly author: FormatAuthor;
  /** How this format spells what a reply could not be told; a name without an entry is reported as it is. */
  readonly replyNames: Readonly<Record<string, string>>;
  /**
   * The fields of a request that a vendor could not be told, as the caller spelled them.
   *
   * @param losses Neutral names, from the writer of the vendor's format.
   */
  droppedFields(body: JsonObject, losses: readonly string[]): string[];

  /**
   * The rules that hold for every target, checked also when the bytes pass through: required fields, types, ranges,
   * roles, pairs of calls and results. Unknown fields and unknown kinds of parts pass, so that what a vendor adds
   * tomorrow works tomorrow.
   *
   * @throws {GatewayError} `invalid_request`, naming the field.
   */
  check(body: JsonObject): void;
  /**
   * A checked request in neutral words.
   *
   * @throws {GatewayError} `invalid_request` for what the neutral words cannot say and a reply depends on.
   */
  read(body: JsonObject): Conversation;

  /** A whole reply as a caller of this format expects it. Losses name what it leaves out. */
  writeReply(reply: Reply, context: ReplyContext): Written<JsonObject>;
  /** Begins to write a caller's stream. */
  eventWriter(context: ReplyContext): EventWriter;
  /** The body by which this format reports a failure before the first byte. */
  writeError(error: GatewayError, requestId: string): JsonObject;
  /** What may be sent between two frames to show that a stream is alive; null where the format's clients fail on it. */
  readonly heartbeat: Frame | "comment" | null;

  /** Whether the caller asked for usage in the stream; true in formats that always have it. */
  wantsUsage(body: JsonObject): boolean;
  /** The largest limit that the request sets, as vendors differ in which of two they take; null when it sets none. */
  requestedLimit(body: JsonObject): RequestedLimit | null;
  /**
   * The request with limits that its model can keep: those above it, and a budget of reasoning that no longer fits, are
   * lowered. Agents send one limit to every model, which vendors refuse where the model's own is lower.
   *
   * @param most The model's limit of output tokens.
   * @returns Null where nothing is above it.
   */
  lowerLimit(body: JsonObject, most: number): LoweredLimit | null;
  /**
   * True where reasoning counts towards the request's limit by the format's own rule, so that it holds for any vendor.
   */
  readonly limitHoldsReasoning: boolean;
  /** Where requests name a service tier. */
  readonly tierFields: readonly string[];
  /**
   * Whether the image models of the multimodal series are served in this format. Source: SPEC "POST
   * /v1/images/generations", rule 5.
   */
  readonly servesImageModels: boolean;
  /**
   * The field of the first setting that a request may not have beside a cached content, which holds its own; else null.
   */
  cacheConflict(body: JsonObject): string | null;
  /** What the gateway must remember for its callers between requests. */
  readonly memory: CallerMemory;
  /** Where a request names state at vendors, offers hosted tools and holds what is the caller's own. */
  readonly grammar: RequestGrammar;
}

/** Who defined a wire format. */
export type FormatAuthor = "openai" | "anthropic" | "google";

/**
 * Checks a request, then reads it.
 *
 * @throws {GatewayError} As {@linkcode CallerFormat.check} and {@linkcode CallerFormat.read}.
 */
export function readChecked(format: CallerFormat, body: JsonObject): Conversation {
  format.check(body);
  return format.read(body);
}
