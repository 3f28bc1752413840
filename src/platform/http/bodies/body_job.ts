import { createHash } from "node:crypto";
import { GatewayError } from "../../lib/basics/gateway_error.ts";
import { decodedBase64, decodedMedia, EmbeddedMedia } from "../../lib/media/sent_media.ts";
import type { JobOutcome } from "../../workers/job_server.ts";
import { type BodyJob, type BodyOutcome, type MediaPlaces, movedBuffersOf, type TakenMedia } from "./body_reader.ts";
import { countedJsonObject } from "./json_body.ts";
import { takeList } from "./sent_list.ts";

/** A shorter text costs so little that it stays. */
const MIN_CHARACTERS = 1_024;
/** Each is a buffer that moves. No request may have more; further ones stay as text. */
const MAX_MEDIA = 64;
/** A body with more values is returned as JSON. */
const MAX_COPIED_VALUES = 1_000;

/** Reads a body in the current thread. */
export async function runBodyJob(job: BodyJob): Promise<JobOutcome> {
  try {
    const { maxValues, weights, lists } = job;
    const json = await countedJsonObject(new Uint8Array(job.buffer), {
      ...maxValues !== undefined && { maxValues },
      ...weights !== undefined && { weights },
    });
    const { bytes, scan: { containers, valueCount } } = json;
    const { body, ranges } = lists === undefined ? { body: json.body, ranges: null } : takeList(json, lists);
    const media: TakenMedia[] = [];
    for (const name of job.members) takeMedia(body, [name], job, media);
    const { buffer, byteOffset: start } = bytes;
    const hash = job.isHashed ? createHash("sha256").update(bytes).digest("hex") : null;
    const rest = valueCount > MAX_COPIED_VALUES ? JSON.stringify(body) : body;
    const value: BodyOutcome = { body: rest, media, buffer, start, containers, hash, ranges: ranges?.buffer ?? null };
    return { value, transfer: movedBuffersOf(value) };
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
