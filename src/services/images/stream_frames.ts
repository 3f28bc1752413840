import { Buffer } from "node:buffer";
import { elementAt } from "../../platform/lib/collections/element_at.ts";
import { withMember } from "../../platform/lib/json/json_member.ts";
import { type Money, writeMoney } from "../../platform/lib/basics/money.ts";
import { writeFrame } from "../../platform/lib/streams/sse.ts";
import type { ImageEvent } from "../../vendors/upstreams/contract/image_upstream.ts";
import { type FinishedImages, qualityUsed, sizeUsed, writeSvgUsage, writeUsage } from "./image_response.ts";
import { isBase64, piecesOfText } from "./base64.ts";
import type { ImageRequest } from "./request/image_request.ts";

type PartialEvent = Extract<ImageEvent, { type: "partial" }>;

/** A comment that keeps the connection alive; clients ignore it. */
export const HEARTBEAT: Uint8Array<ArrayBuffer> = bytesOf(": ping\n\n");

/**
 * A partial picture as an event. Empty if the vendor's data is not base64, since a partial picture is not worth a
 * failure. Source: OpenAI API reference, "Image streaming events".
 */
export function* partialFrame(
  request: ImageRequest,
  { index, data, mediaType }: PartialEvent,
  now: number,
): Generator<Uint8Array<ArrayBuffer>> {
  if (!isBase64(data)) return;
  const facts = {
    partial_image_index: index,
    created_at: Math.floor(now / 1000),
    size: request.size ?? "auto",
    quality: request.quality,
    ...writeLook(request, mediaType),
  };
  yield* frame(`${prefixOf(request)}.partial_image`, piecesOfText(data), JSON.stringify(facts));
}

/** Finished pictures as they are sent. */
export interface CompletedFramesOptions {
  /** The charge; null if it is not known. */
  readonly cost: Money | null;
  /** Unix milliseconds. */
  readonly now: number;
}

/** The finished pictures, one event each; the last one has the usage with the cost. */
export function* completedFrames(
  request: ImageRequest,
  work: FinishedImages,
  { cost, now }: CompletedFramesOptions,
): Generator<Uint8Array<ArrayBuffer>> {
  const { outcome, images } = work;
  for (const [index, image] of images.entries()) {
    const facts = {
      index,
      created_at: outcome.createdAt ?? Math.floor(now / 1000),
      model: request.modelName,
      size: sizeUsed(request, work),
      quality: qualityUsed(request, outcome),
      ...writeLook(request, elementAt(outcome.images, index).mediaType),
      ...index === images.length - 1 ? { usage: writeUsage(request, work.consumption), ...writeSvgUsage(work) } : {},
    };
    yield* frame(`${prefixOf(request)}.completed`, image.pieces(), withCost(JSON.stringify(facts), cost));
  }
}

/** A failure in the event format of the default protocol's clients. */
export function errorFrame(body: unknown): Uint8Array<ArrayBuffer> {
  return bytesOf(writeFrame({ event: "error", data: JSON.stringify(body) }));
}

/** Adds the cost to the usage, a number with all digits of the charge. Source: docs/api/money.md#charges. */
function withCost(facts: string, cost: Money | null): string {
  if (cost === null) return facts;
  return withMember(facts, ["usage"], { name: "cost", value: writeMoney(cost) }) ?? facts;
}

/**
 * One event whose picture is written in chunks: base64 contains nothing that JSON or the framing would escape.
 *
 * @param facts The other members, as a JSON object.
 */
function* frame(
  type: string,
  picture: Iterable<Uint8Array<ArrayBuffer>>,
  facts: string,
): Generator<Uint8Array<ArrayBuffer>> {
  yield bytesOf(`event: ${type}\ndata: {"type":"${type}","b64_json":"`);
  yield* picture;
  yield bytesOf(`",${facts.slice(1)}\n\n`);
}

function prefixOf({ kind }: ImageRequest): string {
  return kind === "edit" ? "image_edit" : "image_generation";
}

function writeLook({ background, outputFormat }: ImageRequest, mediaType: string | null) {
  const format = mediaType?.startsWith("image/") ? mediaType.slice("image/".length) : outputFormat ?? "png";
  return { background: background ?? "auto", output_format: format.replace(/\+xml$/, "") };
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return Buffer.from(text);
}
