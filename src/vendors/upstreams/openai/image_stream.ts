import * as z from "zod";
import { textHasMoreValuesThan } from "../../../platform/lib/json/json_values.ts";
import { createFrameReader, MAX_IMAGE_FRAME_BYTES } from "../../../platform/lib/streams/sse.ts";
import type { Frame } from "../../../platform/lib/streams/frame.ts";
import type { FailureKind } from "../call/failure.ts";
import { sumOfConsumptions } from "../shared/images/image_reply.ts";
import { IMAGE_REPLY_CAP_BYTES } from "../shared/images/image_request_options.ts";
import type { ImageEvent, ImageOutcome } from "../contract/image_upstream.ts";
import type { Outbound, OutboundResponse } from "../call/outbound_call.ts";
import { readJsonResponse } from "../call/outbound_json.ts";
import { readImageError } from "./image_error.ts";
import { readOutcome, type SentLook } from "./image_replies.ts";

const AnyEvent = z.object({ type: z.string().nullish() });

const PartialImage = z.object({
  b64_json: z.string(),
  partial_image_index: z.number().nullish(),
  output_format: z.string().nullish(),
});

const CompletedImage = z.object({ b64_json: z.string(), created_at: z.number().nullish() });

/** Events with pictures have a few dozen values. */
const MAX_EVENT_VALUES = 10_000;

/**
 * Reads a streamed response. Its events are `image_generation.partial_image` and `image_generation.completed`, or the
 * same of `image_edit`. Each image has its own `completed` event; together they are one outcome. A complete response of
 * a vendor without streaming is read, too. Source: OpenAI API reference, "Image streaming".
 *
 * @throws {UpstreamFailure} Also if the stream reports a failure or ends without an image.
 */
export async function* readImageStream(
  response: OutboundResponse,
  outbound: Outbound,
  sent: SentLook,
): AsyncGenerator<ImageEvent> {
  if (response.mediaType !== "text/event-stream") {
    const outcome = await readJsonResponse(
      outbound,
      await response.readAll(IMAGE_REPLY_CAP_BYTES),
      (body) => readOutcome(body, sent, outbound),
    );
    return yield { type: "completed", outcome };
  }
  let outcome: ImageOutcome | null = null;
  let completedCharacters = 0;
  for await (const { event, data } of framesOf(response, outbound)) {
    if (data === "[DONE]") continue;
    const body = parsed(data, outbound);
    const type = read(AnyEvent, body, outbound).type ?? event ?? "";
    if (type === "error" || type.endsWith(".failed")) throw failureIn(body, outbound);
    if (type.endsWith(".partial_image")) yield partialOf(body, outbound);
    if (!type.endsWith(".completed")) continue;
    completedCharacters += data.length;
    // As in a reply that is no stream. Partial images are passed on, and completed ones are kept.
    if (completedCharacters > IMAGE_REPLY_CAP_BYTES) throw outbound.failure("broken", "", { accepted: "unknown" });
    outcome = merged(outcome, completedOf(body, outbound, sent));
  }
  if (outcome === null) throw outbound.failure("broken", "", { accepted: "unknown" });
  yield { type: "completed", outcome };
}

async function* framesOf(response: OutboundResponse, outbound: Outbound): AsyncGenerator<Frame> {
  const reader = createFrameReader({ maxFrameCharacters: MAX_IMAGE_FRAME_BYTES });
  try {
    for (let bytes = await response.read(); bytes !== null; bytes = await response.read()) {
      yield* framesIn(reader, bytes, outbound);
    }
    yield* reader.end();
  } finally {
    response.cancel();
  }
}

function framesIn(reader: ReturnType<typeof createFrameReader>, bytes: Uint8Array, outbound: Outbound): Frame[] {
  try {
    return reader.push(bytes);
  } catch (cause) {
    throw outbound.failure("broken", "", { accepted: "unknown", cause });
  }
}

function parsed(data: string, outbound: Outbound): unknown {
  try {
    if (textHasMoreValuesThan(data, MAX_EVENT_VALUES)) throw new RangeError("Event has too many JSON values");
    return JSON.parse(data);
  } catch (cause) {
    throw outbound.failure("broken", "", { accepted: "unknown", cause });
  }
}

function read<T>(schema: z.ZodType<T>, body: unknown, outbound: Outbound): T {
  const { data, error } = schema.safeParse(body);
  if (data === undefined) throw outbound.failure("broken", "", { accepted: "unknown", cause: error });
  return data;
}

function partialOf(body: unknown, outbound: Outbound): ImageEvent {
  const { b64_json, partial_image_index, output_format } = read(PartialImage, body, outbound);
  const mediaType = output_format ? `image/${output_format}` : null;
  return { type: "partial", index: partial_image_index ?? 0, data: b64_json, mediaType };
}

/** A `completed` event has the fields of a complete response with one image, but without the list. */
function completedOf(body: unknown, outbound: Outbound, sent: SentLook): ImageOutcome {
  const { b64_json, created_at } = read(CompletedImage, body, outbound);
  return readOutcome({ ...(body as object), created: created_at, data: [{ b64_json }] }, sent, outbound);
}

function merged(first: ImageOutcome | null, next: ImageOutcome): ImageOutcome {
  if (first === null) return next;
  return {
    ...next,
    images: [...first.images, ...next.images],
    consumption: sumOfConsumptions([first.consumption, next.consumption]),
  };
}

function failureIn(body: unknown, outbound: Outbound) {
  const { message, code, field, kind, isContentRefusal } = readImageError(body);
  const type = z.object({ error: z.object({ type: z.string() }) }).safeParse(body).data?.error.type ?? "";
  const failureKind = kind ?? kindOf(`${code ?? ""} ${type}`);
  return outbound.failure(failureKind, message, {
    accepted: failureKind === "invalid" ? "no" : "unknown",
    vendorCode: code ?? undefined,
    field: field ?? undefined,
    isContentRefusal,
  });
}

/** A stream has no status, so the error code and type decide. Source: OpenAI API reference, "Error codes". */
function kindOf(codes: string): FailureKind {
  if (/user_error|invalid_request|unknown_parameter|invalid_value/.test(codes)) return "invalid";
  return /rate_limit/.test(codes) ? "rate_limited" : "unavailable";
}
