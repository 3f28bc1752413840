import { createHash } from "node:crypto";
import { type ErrorCode, type ErrorDetails, GatewayError } from "../../lib/basics/gateway_error.ts";
import type { JsonObject } from "../../lib/json/json_object.ts";
import { decodedBase64, decodedMedia, EmbeddedMedia } from "../../lib/media/sent_media.ts";
import type { JobOutcome } from "../../workers/job_server.ts";
import { countedJsonObject } from "./json_body.ts";

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
    readonly body: JsonObject;
    readonly media: readonly TakenMedia[];
    /** The body as it was sent, and where its text begins: a byte order mark can be before it. */
    readonly buffer: ArrayBuffer;
    readonly start: number;
    /** The number of objects and arrays. */
    readonly containers: number;
    /** SHA-256 in hexadecimal digits; null if it is not needed. */
    readonly hash: string | null;
  };

/** A shorter text costs so little that it stays. */
const MIN_CHARACTERS = 1_024;
/** Each is a buffer that moves. No request may have more; further ones stay as text. */
const MAX_MEDIA = 64;

/** Reads a body in the current thread. */
export async function runBodyJob(job: BodyJob): Promise<JobOutcome> {
  try {
    const { body, bytes, scan: { containers } } = await countedJsonObject(new Uint8Array(job.buffer), job.maxValues);
    const media: TakenMedia[] = [];
    for (const name of job.members) takeMedia(body, [name], job, media);
    const { buffer, byteOffset: start } = bytes;
    const hash = job.isHashed ? createHash("sha256").update(bytes).digest("hex") : null;
    const value: BodyOutcome = { body, media, buffer, start, containers, hash };
    return { value, transfer: [buffer, ...media.flatMap((each) => each.bytes ?? [])] };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const { cause: _, ...details } = error.details;
    return { value: { refused: { code: error.code, message: error.message, details } } satisfies BodyOutcome };
  }
}

/** Replaces the texts at a place, and below it, whose content is media. The depth of a body is limited. */
function takeMedia(
  parent: Readonly<Record<string, unknown>>,
  path: readonly string[],
  places: MediaPlaces,
  media: TakenMedia[],
): void {
  const key = path.at(-1) ?? "";
  const value = parent[key];
  if (typeof value === "string") {
    if (value.length < MIN_CHARACTERS || media.length >= MAX_MEDIA) return;
    const decoded = places.isBase64 ? decodedBase64(value) : decodedMedia(value);
    if (!(decoded instanceof EmbeddedMedia)) return;
    const { bytes, isBase64, characters } = decoded;
    media.push({ path, bytes: bytes === null ? null : bytes.buffer, isBase64, characters });
    Reflect.set(parent, key, "");
  } else if (isContainer(value)) {
    for (const name of Object.keys(value)) {
      // No request has such a member, and it is not set as others are.
      if (name !== "__proto__") takeMedia(value, [...path, name], places, media);
    }
  }
}

function isContainer(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
