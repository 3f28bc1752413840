import type { Frame } from "../lib/frame.ts";
import type { FailureReason } from "../lib/gateway_error.ts";
import type { JsonObject } from "../lib/json_object.ts";
import type { FormatAuthor } from "./caller_format.ts";
import type { Conversation } from "./conversation.ts";
import type { ReplyEvent } from "./events.ts";
import type { ModelFacts } from "./model_facts.ts";
import type { Quirks } from "./quirks.ts";
import type { Reply } from "./reply.ts";
import type { Form } from "./seal.ts";
import type { Usage } from "./usage.ts";
import type { Written } from "./written.ts";

/** The model that a request goes to, and what it and its provider take. */
export interface RequestTarget {
  /** The vendor's name of the model. */
  readonly model: string;
  /**
   * The provider's name: seals of other issuers, and of other formats, are left out (and reported as
   * `reasoning_signature`).
   */
  readonly provider: string;
  /** The model's own limit of output tokens, for formats that must name one; null when the catalog does not know. */
  readonly maxOutputTokens: number | null;
  /** What the model takes. */
  readonly facts: ModelFacts;
  /** What the provider's wire format differs in from the one that its author documents. */
  readonly quirks: Quirks;
  /** True when the model's vendor has a search of the web that the caller may use. */
  readonly searches?: boolean;
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
   * Called when the vendor's stream has ended: closes what is open and gives `finish` if the format has no end mark and
   * a stop reason was seen. Empty when `finish` was given before. The stream was cut when no `finish` ever comes.
   */
  end(): ReplyEvent[];
}

/** Turns the bytes of one vendor's stream, however they are framed, into neutral events. One per stream. */
export interface StreamReader {
  /**
   * The events that these bytes complete, one by one: those before a failure are given before it is thrown.
   *
   * @throws {SyntaxError} If a frame is not JSON.
   * @throws {RangeError} If a frame is larger than any of a reply.
   */
  push(bytes: Uint8Array): Iterable<ReplyEvent>;
  /**
   * Called when the vendor's stream has ended; as {@linkcode EventReader.end}. A frame that was cut in two says
   * nothing.
   */
  end(): Iterable<ReplyEvent>;
}

/** What a stream reader tells beside events. */
export interface StreamReaderOptions {
  /** Is shown the data of each frame before it is read. */
  readonly seen?: (data: string) => void;
  /** Is told how many bytes of an unfinished frame are held at most; what it throws ends the reading. */
  readonly held?: (bytes: number) => void;
}

/**
 * The side of a wire format that faces vendors: requests are written, replies are read. Pure: no clock, no fetch, no
 * store. The other side is `CallerFormat`.
 */
export interface UpstreamFormat {
  /** The format that it writes and reads. */
  readonly name: Form;
  /** Who defined the format; formats of one author share their errors. */
  readonly author: FormatAuthor;

  /**
   * A request as this format says it to a vendor. Losses name what it leaves out.
   *
   * @throws {GatewayError} `invalid_request` when the format cannot say what the request depends on.
   */
  writeRequest(conversation: Conversation, target: RequestTarget): Written<JsonObject>;
  /** Whether the author's model of this name searches the web when a request of this format asks for it. */
  searches(model: string): boolean;
  /**
   * Reads the whole reply of a vendor that does not stream.
   *
   * @throws {TypeError} If it is no reply of this format.
   */
  readReply(body: unknown): Reply;
  /** The usage that a whole reply reports; null if none. */
  readUsage(body: unknown): Usage | null;
  /** What a vendor's error body says, and the vendor's own machine word for it. */
  readError(body: unknown): VendorError;
  /** Begins to read a vendor's stream. Seals are given without an issuer; whoever knows the provider adds it. */
  streamReader(options?: StreamReaderOptions): StreamReader;

  /** Features that callers of this format ask for in header fields, by name in lower case. */
  readonly forwardedHeaders: readonly string[];
  /** What a vendor tells of its limits and times in header fields, by name in lower case. */
  readonly toldHeaders: readonly string[];
  /** Whether a picture's address may lead to any file, which the vendor then reads. */
  readonly takesAnyFile: boolean;
  /** Whether the format has settings for stop sequences. */
  readonly hasStop: boolean;
  /** Whether its vendors take sound in a turn. */
  readonly takesAudio: boolean;
  /** Whether a request that is translated can ask for a service tier, as a request names it, in lower case. */
  carriesTier(tier: string): boolean;
  /**
   * How a vendor is told that a prefix is to be cached: by marks on parts, by a key that equal prefixes share, or not.
   *
   * @param quirks Of the provider.
   */
  cacheHint(quirks: Quirks): "marks" | "key" | null;
}

/** A vendor's own account of a failure. */
export interface VendorError {
  /** Its message; empty when the body had none. */
  readonly message: string;
  /** `context_length_exceeded`, `overloaded_error`, `RESOURCE_EXHAUSTED`; null when it had none. */
  readonly code: string | null;
  /** The field it names, null when none. */
  readonly field: string | null;
  /** By what clients tell failures of one code apart; left out when the body has none. */
  readonly reason?: FailureReason;
  /** From `RetryInfo` and the like; null when the body has none. */
  readonly retryAfterSeconds: number | null;
}
