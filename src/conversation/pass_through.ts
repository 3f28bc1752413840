import type { JsonScan } from "../lib/json.ts";
import type { JsonObject } from "../lib/json_object.ts";
import type { ReplyEvent } from "./events.ts";
import type { IssuedId, StatePolicy } from "./issued_ids.ts";
import type { Quirks } from "./quirks.ts";
import type { Usage } from "./usage.ts";
import type { Written } from "./written.ts";

/** A checked request whose bytes are passed to a vendor of the caller's own format. */
export interface PassedRequest {
  /** The body as it came. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The outline of `bytes`. */
  readonly scan: JsonScan;
  /** The body, parsed. */
  readonly body: JsonObject;
  /** Members of `body`'s top object that differ from `bytes`. */
  readonly changed: Readonly<Record<string, unknown>>;
  /** The vendor's name of the model. */
  readonly model: string;
  /** A limit of output tokens that the gateway sets; null to leave the caller's. */
  readonly outputLimit: number | null;
  /** The vendor's name of the cached content that the request builds on; null when none. */
  readonly cachedContent: string | null;
  /** Of the provider. */
  readonly quirks: Quirks;
  /** As in `RequestTarget`: whose seals the vendor may see. */
  readonly provider: string;
  /** The body as Latin-1 text, for cheap searches. */
  readonly latin1: string;
  /** The output item of that id, where the gateway itself made it for the account; else null. */
  readonly madeItem: (id: string) => JsonObject | null;
}

/** Follows a stream whose bytes pass through. One per stream. */
export interface StreamWatcher {
  /**
   * True when the text could matter: a cheap search, so that most of a stream is never parsed.
   *
   * @param text Whole frames as they came, or the data of one. Blanks and ends of lines may stand between any two signs
   *   of its JSON, and a line of data may end there.
   */
  concerns(text: string): boolean;
  /** Reads the data of such a frame. A running total of usage replaces the one before. */
  follow(data: string): void;
  /** What is known so far, null if nothing. */
  usage(): Usage | null;
  /** True once the reply was seen to be complete, by which it is told from one that was cut off. */
  ended(): boolean;
  /** True once the format's end mark was seen, after which nothing follows that is to be charged. */
  isFinal(): boolean;
  /** True for the data of a frame that the gateway asked for and the caller did not. */
  isHidden(data: string): boolean;
  /**
   * What the stream has told of itself, in formats whose failures repeat it; absent in others.
   *
   * @param last The last frames that the caller was sent, as they came.
   */
  begun?(last: string): BegunStream | null;
  /** The failure that a frame reports; null where it reports none. */
  failureIn(data: string): ReplyEvent & { readonly type: "error" } | null;
}

/** What a stream that passes through has told of itself. */
export interface BegunStream {
  /** The vendor's id of the reply. */
  readonly id: string;
  /** Unix seconds; null where the vendor did not say. */
  readonly createdAt: number | null;
  /** The number that the next event gets. */
  readonly sequence: number;
}

/** Where replies of a format hand out ids of state that the vendor keeps. */
export interface IssuedIdReader {
  /** Whether text may hand out an id: a cheap search. @param text Whole lines, a character a byte or decoded. */
  mayIssue(text: string, policy: StatePolicy): boolean;
  /** The ids that a whole reply, or the data of one frame of a stream, hands out. @param value It, parsed. */
  issuedIn(value: unknown, policy: StatePolicy): readonly IssuedId[];
}

/** How bytes pass where caller and vendor speak one format. Source: DESIGN section 1, sentence 2. */
export interface PassThrough {
  /** The request as the vendor gets it: the caller's bytes but for what a vendor must be told otherwise. */
  prepare(request: PassedRequest): Written<Uint8Array>;
  /** Begins to follow a stream. */
  watch(body: JsonObject): StreamWatcher;
  /** The ids that replies hand out; null where they hand out none. */
  readonly issuedIds: IssuedIdReader | null;
}
