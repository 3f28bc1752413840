import { ownBufferOf } from "../../lib/bytes/own_buffer.ts";
import type { JsonObject } from "../../lib/json/json_object.ts";
import type { BodyLimits, BodySource } from "./body.ts";
import type { BodyReader, MediaPlaces } from "./body_reader.ts";
import { bodyOf, countedJsonObject, JSON_CONTAINER_BYTES, refuseOtherTypes } from "./json_body.ts";

/** Where large bodies with media are read. */
export interface MediaBodyThread {
  readonly reader: BodyReader;
  /** A body with more bytes is large. */
  readonly aboveBytes: number;
}

/** How a body with media is read. */
export interface MediaBodyOptions {
  readonly limits: BodyLimits;
  readonly places: MediaPlaces;
  readonly thread: MediaBodyThread;
  /** The account that takes turns with others. */
  readonly accountId: string;
  /** Whether the digest of a large body is needed. Default: false. */
  readonly isHashed?: boolean;
}

/** A JSON object with media. */
export interface MediaBody {
  /** Media can be text or decoded, see `SentMedia`. */
  readonly body: JsonObject;
  /** As sent, without a byte order mark. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** SHA-256 in hexadecimal digits; null if no thread computed it. */
  readonly hash: string | null;
}

/**
 * Reads a request as `readJsonObject` does. A large one is parsed, and its media are decoded, in a thread: that takes
 * more than a tenth of a second for 40 MB, in which this thread would answer nobody else.
 *
 * @throws {GatewayError} As `readJsonObject`; `overloaded` if too many large bodies wait.
 */
export async function readMediaBody(
  source: BodySource,
  { limits, places, thread: { reader, aboveBytes }, accountId, isHashed = false }: MediaBodyOptions,
): Promise<MediaBody> {
  refuseOtherTypes((source.headers ?? source.request.headers).get("content-type"));
  const { request: { signal }, memory } = source;
  const sent = await bodyOf(source, limits);
  if (sent.length <= aboveBytes) {
    const { body, bytes } = await countedJsonObject(sent, limits, memory);
    return { body, bytes, hash: null };
  }
  const job = { ...places, buffer: ownBufferOf(sent), maxValues: limits.maxValues, isHashed };
  const { body, bytes, containers, hash } = await reader.read(job, { accountId, signal });
  memory.reserve(containers * JSON_CONTAINER_BYTES);
  return { body, bytes, hash };
}
