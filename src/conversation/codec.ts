import type { Frame } from "../lib/frame.ts";
import type { GatewayError } from "../lib/gateway_error.ts";
import type { JsonObject } from "../lib/json_object.ts";
import type { Conversation } from "./conversation.ts";
import type { ReplyEvent } from "./events.ts";
import type { Reply } from "./reply.ts";
import type { Form } from "./seal.ts";
import type { Usage } from "./usage.ts";

export type { Frame, JsonObject };

/** A wire value, and the names of what the form could not say, in the neutral spelling (`top_k`, `stop`, `image`). */
export interface Written<T> {
  /** The value as it goes on the wire. */
  readonly body: T;
  /** Empty when the form could say everything. */
  readonly losses: readonly string[];
  /**
   * The caller's names of tools by those on the wire, where the form does not allow the caller's; left out when all
   * names went as they were. A reply's names are led back through it.
   */
  readonly toolNames?: ReadonlyMap<string, string>;
}

/** What a request must know of where it goes. */
export interface RequestTarget {
  /** The vendor's name of the model. */
  readonly model: string;
  /** The provider's name: seals of other issuers, and of other forms, are left out (and reported as `reasoning_signature`). */
  readonly provider: string;
  /** The model's own limit of output tokens, for forms that must name one; null when the catalog does not know. */
  readonly maxOutputTokens: number | null;
  /** True for vendors that only resemble the form's author: newer field names are then avoided. */
  readonly compatible: boolean;
}

/** What a reply repeats of its request. */
export interface ReplyContext {
  /** The model as the caller named it. */
  readonly model: string;
  /** The gateway's id of the request, from which ids are made where the vendor's cannot be kept. */
  readonly requestId: string;
  /** Unix seconds, used where the vendor gave none. */
  readonly createdAt: number;
  /** The request, for forms that echo settings; null when it was not read. */
  readonly conversation: Conversation | null;
  /** True when the caller asked for usage in the stream (chat form: `stream_options.include_usage`). */
  readonly includeUsage: boolean;
}

/** Turns the frames of one vendor's stream into neutral events. One per stream. */
export interface EventReader {
  /**
   * The events that one frame means.
   *
   * @param frame As it came; a frame that means nothing gives no events.
   * @throws {SyntaxError} If the data is not JSON.
   */
  read(frame: Frame): ReplyEvent[];
  /**
   * Called when the vendor's stream has ended: closes what is open and gives `finish` if the form has no end mark and
   * a stop reason was seen. Empty when `finish` was given before. The stream was cut when no `finish` ever comes.
   */
  end(): ReplyEvent[];
}

/** Turns neutral events into the frames of one caller's stream. One per stream. */
export interface EventWriter {
  /** The frames of one event; those of `finish` include the form's end mark. An `error` event is written as by `fail`. */
  write(event: ReplyEvent): Frame[];
  /** The frames by which this form reports a failure after the first byte; the stream ends after them. */
  fail(error: GatewayError): Frame[];
}

/** Follows the usage of a stream whose bytes pass through untouched. One per stream. */
export interface UsageFollower {
  /** True when the frame's data could matter: a cheap search in the text, so that most frames are never parsed. */
  concerns(data: string): boolean;
  /** Reads such a frame. A running total replaces the one before. */
  follow(data: string): void;
  /** What is known so far, null if nothing. */
  usage(): Usage | null;
  /** True once the form's end mark was seen, by which a complete stream is told from a cut one. */
  ended(): boolean;
}

/**
 * One wire form, read and written in full. Pure: no clock, no fetch, no store. Reading stands beside writing, and tests
 * hold them to each other.
 */
export interface Codec {
  /** The form that it reads and writes. */
  readonly name: Form;
  /** How this form spells a loss in its own words; a name without an entry is reported as it is. */
  readonly fieldNames: Readonly<Record<string, string>>;

  /**
   * The rules that hold for every target, checked also when the bytes pass through: required fields, types, ranges,
   * roles, pairs of calls and results. Unknown fields and unknown kinds of parts pass, so that what a vendor adds
   * tomorrow works tomorrow.
   *
   * @throws {GatewayError} `invalid_request`, naming the field.
   */
  checkRequest(body: JsonObject): void;
  /** Checks as {@linkcode Codec.checkRequest} does, then reads. Throws the same. */
  readRequest(body: JsonObject): Conversation;
  /**
   * A request as this form says it to a vendor. Losses name what it leaves out.
   *
   * @throws {GatewayError} `invalid_request` when the form cannot say what the request depends on.
   */
  writeRequest(conversation: Conversation, target: RequestTarget): Written<JsonObject>;

  /**
   * Reads the whole reply of a vendor that does not stream.
   *
   * @throws {TypeError} If it is no reply of this form.
   */
  readReply(body: unknown): Reply;
  /** A whole reply as a caller of this form expects it. Losses name what it leaves out. */
  writeReply(reply: Reply, context: ReplyContext): Written<JsonObject>;

  /** Seals are given without an issuer; whoever knows the provider adds it. */
  eventReader(): EventReader;
  /** Begins to write a caller's stream. */
  eventWriter(context: ReplyContext): EventWriter;

  /** The usage that a whole reply reports; null if none. */
  readUsage(body: unknown): Usage | null;
  /** Begins to follow a stream whose bytes pass through. */
  usageFollower(): UsageFollower;

  /** What a vendor's error body says, and the vendor's own machine word for it. */
  readError(body: unknown): VendorError;
  /** The body by which this form reports a failure before the first byte. */
  writeError(error: GatewayError, requestId: string): JsonObject;
}

/** A vendor's own account of a failure. */
export interface VendorError {
  /** Its message; empty when the body had none. */
  readonly message: string;
  /** `context_length_exceeded`, `overloaded_error`, `RESOURCE_EXHAUSTED`; null when it had none. */
  readonly code: string | null;
  /** The field it names, null when none. */
  readonly field: string | null;
  /** From `RetryInfo` and the like; null when the body has none. */
  readonly retryAfterSeconds: number | null;
}
