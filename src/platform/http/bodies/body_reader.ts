import { type ErrorCode, type ErrorDetails, GatewayError } from "../../lib/basics/gateway_error.ts";
import type { JsonObject } from "../../lib/json/json_object.ts";
import type { ValueWeights } from "../../lib/json/json_values.ts";
import { EmbeddedMedia } from "../../lib/media/sent_media.ts";
import { type ListPath, SentList } from "./sent_list.ts";

/** Where a body has media as text. */
export interface MediaPlaces {
  /** The members of the body that have media, at any depth. */
  readonly members: readonly string[];
  /** Whether base64 without the head of a `data:` URI is media, too. */
  readonly isBase64: boolean;
}

/** A body of JSON that a thread reads. */
export interface BodyJob extends MediaPlaces {
  /** The body. It moves. */
  readonly buffer: ArrayBuffer;
  /** The maximum number of values; undefined for any number. */
  readonly maxValues: number | undefined;
  /** What counts for several values. Default: as elsewhere. */
  readonly weights?: ValueWeights;
  /** Where the body can have a list that is taken out, see `takeList`. Default: none is. */
  readonly lists?: readonly ListPath[];
  /** Whether the digest of the body is needed. */
  readonly isHashed: boolean;
}

/** Media that were taken from a body. */
export interface TakenMedia {
  /** The names and indexes that lead to it. An empty text is left there. */
  readonly path: readonly string[];
  readonly bytes: ArrayBuffer | null;
  readonly isBase64: boolean;
  readonly characters: number;
}

/** What a thread read of a body, or why it refused it. */
export type BodyOutcome =
  | { readonly refused: { readonly code: ErrorCode; readonly message: string; readonly details: ErrorDetails } }
  | {
    /** As JSON if it has many values: to parse them costs less than to copy them. */
    readonly body: JsonObject | string;
    readonly media: readonly TakenMedia[];
    /** The body as it was sent, and where its text begins: a byte order mark can be before it. */
    readonly buffer: ArrayBuffer;
    readonly start: number;
    /** The number of objects and arrays. */
    readonly containers: number;
    /** SHA-256 in hexadecimal digits; null if it is not needed. */
    readonly hash: string | null;
    /** The numbers of {@linkcode SentList.ranges}; null if no list was taken out. */
    readonly ranges: ArrayBuffer | null;
  };

/** The buffers of an outcome, which move. */
export function movedBuffersOf(outcome: BodyOutcome): ArrayBuffer[] {
  if ("refused" in outcome) return [];
  const { buffer, media, ranges } = outcome;
  return [buffer, ...media.flatMap(({ bytes }) => bytes ?? []), ...ranges === null ? [] : [ranges]];
}

/** A body that a thread read. */
export interface ReadByThread {
  /** Its long media are {@linkcode EmbeddedMedia}. */
  readonly body: JsonObject;
  /** As sent, without a byte order mark. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The number of objects and arrays. */
  readonly containers: number;
  /** SHA-256 in hexadecimal digits; null if it was not asked for. */
  readonly hash: string | null;
  /** The list that was taken out; null for none. */
  readonly list: SentList | null;
}

/** Whose body it is. */
export interface BodyCaller {
  /** The account that takes turns with others. */
  readonly accountId: string;
  /** Fires when the caller leaves. Default: never. */
  readonly signal?: AbortSignal;
}

/** Reads large bodies of JSON in a thread. */
export interface BodyReader {
  /**
   * Reads a body. Its bytes move, and are empty here afterwards.
   *
   * @throws {GatewayError} What the body is refused with; `overloaded` if too many wait.
   */
  read(job: BodyJob, caller: BodyCaller): Promise<ReadByThread>;
}

/** Gives a body to the thread, wherever that is started. Throws as {@linkcode BodyReader.read} does. */
export type BodyRunner = (job: BodyJob, caller: BodyCaller) => Promise<BodyOutcome>;

/** Reads bodies by a thread. */
export function bodyReaderBy(run: BodyRunner): BodyReader {
  return {
    async read(job, caller) {
      const outcome = await run(job, caller);
      if ("refused" in outcome) {
        const { code, message, details } = outcome.refused;
        throw new GatewayError(code, message, details);
      }
      const { media, buffer, start, containers, hash, ranges } = outcome;
      const body: JsonObject = typeof outcome.body === "string" ? JSON.parse(outcome.body) : outcome.body;
      for (const each of media) putBack(body, each);
      const bytes = new Uint8Array(buffer, start);
      const list = ranges === null ? null : new SentList(bytes, new Uint32Array(ranges));
      return { body, bytes, containers, hash, list };
    },
  };
}

/** Puts media where its text was. */
function putBack(body: JsonObject, { path, bytes, isBase64, characters }: TakenMedia): void {
  let parent: object = body;
  for (const name of path.slice(0, -1)) {
    const child: unknown = Reflect.get(parent, name);
    if (typeof child !== "object" || child === null) return;
    parent = child;
  }
  const content = bytes === null ? null : new Uint8Array(bytes);
  Reflect.set(parent, path.at(-1) ?? "", new EmbeddedMedia(content, isBase64, characters));
}
