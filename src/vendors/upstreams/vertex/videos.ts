import * as z from "zod";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { isGoogleRefusal, readGoogleRefusal } from "../shared/google_refusal.ts";
import type { ModelPaths } from "../shared/model_paths.ts";
import type { Outbound, OutboundResponse } from "../call/outbound_call.ts";
import { videoExchange } from "../shared/videos/video_exchange.ts";
import { failed, pending } from "../shared/videos/video_progress.ts";
import { shapeOf, type VideoShapes } from "../shared/videos/video_shape.ts";
import type {
  RefusedOptions,
  VideoJobHandle,
  VideoMedia,
  VideoOrder,
  VideoProgress,
  VideoUpstream,
} from "../contract/video_upstream.ts";
import { readInlineVideo, startOfInlineVideo } from "./inline_video.ts";

/**
 * Veo at Vertex AI: long-running operations, whose result is in the response to a poll. Source: Vertex AI API
 * reference, "Veo on Vertex AI video generation API" (predictLongRunning, fetchPredictOperation).
 */

const SHAPES: VideoShapes = {
  resolutions: {
    "720p": { value: "720p", shortSide: 720 },
    "1080p": { value: "1080p", shortSide: 1_080 },
    "4K": { value: "4k", shortSide: 2_160 },
  },
  ratios: ["16:9", "9:16"],
};

/**
 * What both lists of the vendor have. Its REST reference names just these: "VideoGenerationModelInstance", `mimeType`,
 * "Only the images in below listed MIME types are supported". The table of the page on the API also has WebP, which the
 * examples below the table do not have (late 2025).
 */
const IMAGE_TYPES = ["image/jpeg", "image/png"];

/** Responses without a video are far shorter. */
const MAX_HEAD_BYTES = 65_536;
const FIRST_BYTE_TIMEOUT_MS = 60_000;
const MAX_SEED = 2 ** 32 - 1;

const text = z.string().nullish().catch(null);

const Created = z.object({ name: z.string().min(1) });

const Operation = z.object({
  done: z.boolean().nullish().catch(null),
  error: z.object({ code: z.union([z.string(), z.number()]).nullish().catch(null), message: text }).nullish()
    .catch(null),
  response: z.object({
    videos: z.array(z.object({ bytesBase64Encoded: text })).nullish().catch(null),
    raiMediaFilteredCount: z.number().nullish().catch(null),
    raiMediaFilteredReasons: z.array(z.string()).nullish().catch(null),
  }).nullish().catch(null),
});

const OUTPUT_REASON = "one request makes one video, whose bytes the gateway reads";

const REFUSED_OPTIONS: RefusedOptions = {
  samplecount: OUTPUT_REASON,
  storageuri: OUTPUT_REASON,
  gcsuri: OUTPUT_REASON,
  pubsubtopic: "the gateway polls the operation itself",
  durationseconds: 'it changes the price; use "duration"',
  instances: 'use "prompt", "frame_images" and "input_references"',
  lastframe: 'it is an input of the video; use "frame_images"',
  referenceimages: 'it is an input of the video; use "input_references"',
};

/**
 * Creates the video upstream of Vertex AI. The vendor cannot cancel an operation. It returns no client-supplied
 * identifier, so a lost one cannot be found.
 *
 * @param pathOf The paths of Google's models.
 */
export function vertexVideos(outbound: Outbound, pathOf: ModelPaths): VideoUpstream {
  const exchange = videoExchange(outbound, readGoogleRefusal);
  return {
    // The vendor does not download URLs: images are sent inline.
    mediaForms: { image: ["base64"], imageTypes: IMAGE_TYPES, audio: [], video: [] },
    async create(order) {
      const path = pathOf(order.model, "predictLongRunning");
      const { name } = await exchange.create(path, bodyOf(outbound, order), (response) => Created.parse(response));
      return { id: name, place: pathOf(order.model, "fetchPredictOperation") };
    },
    poll: async (job) => await progressIn(outbound, await fetchOperation(outbound, job)),
    cancel: null,
    find: null,
    open: async (_result, job) => ({ bytes: readInlineVideo(await fetchOperation(outbound, job), outbound) }),
    refusedOptions: REFUSED_OPTIONS,
  };
}

function bodyOf(outbound: Outbound, order: VideoOrder): JsonObject {
  const { durationSeconds, firstFrame, lastFrame, references, generateAudio, seed } = order;
  const { resolution, ratio } = shapeOf(outbound, order, SHAPES);
  if (seed !== null && seed > MAX_SEED) {
    throw outbound.failure("invalid", `Invalid "seed": expected at most ${MAX_SEED}`, { field: "seed" });
  }
  return {
    instances: [{
      prompt: order.prompt,
      ...(firstFrame !== null && { image: imageOf(firstFrame) }),
      ...(lastFrame !== null && { lastFrame: imageOf(lastFrame) }),
      ...(references.length > 0 && {
        referenceImages: references.map((media) => ({ image: imageOf(media), referenceType: "asset" })),
      }),
    }],
    parameters: {
      ...order.options,
      sampleCount: 1,
      ...(resolution !== null && { resolution }),
      ...(ratio !== null && { aspectRatio: ratio }),
      ...(durationSeconds !== null && durationSeconds > 0 && { durationSeconds }),
      ...(generateAudio !== null && { generateAudio }),
      ...(seed !== null && seed >= 0 && { seed }),
    },
  };
}

function imageOf({ value, mediaType }: VideoMedia): JsonObject {
  return { bytesBase64Encoded: value, ...(mediaType !== null && { mimeType: mediaType }) };
}

function fetchOperation(outbound: Outbound, { id, place }: VideoJobHandle): Promise<OutboundResponse> {
  return outbound.send({
    method: "POST",
    path: place ?? "",
    headers: { "content-type": "application/json" },
    body: new TextEncoder().encode(JSON.stringify({ operationName: id })),
    firstByteMs: Math.min(FIRST_BYTE_TIMEOUT_MS, outbound.firstByteMs),
    callerSignal: null,
    readError: readGoogleRefusal,
  });
}

/** Reads the state, but not the bytes of a video. */
async function progressIn(outbound: Outbound, response: OutboundResponse): Promise<VideoProgress> {
  const { head, isWhole } = await headOf(response);
  if (startOfInlineVideo(head) >= 0) {
    const results = [{ url: null, needsCredential: true }];
    return { status: "completed", results, consumption: { seconds: null, costUsd: null } };
  }
  const operation = isWhole ? operationIn(head) : null;
  if (operation === null) throw outbound.failure("broken", "");
  const { done, error, response: ended } = operation;
  if (error) return failed(outbound, error.message || "", isGoogleRefusal(error.code, error.message));
  if (done !== true) return pending(null);
  // The vendor reports a refusal as a success with fewer videos.
  const reasons = ended?.raiMediaFilteredReasons?.join("; ") ?? "";
  if ((ended?.raiMediaFilteredCount ?? 0) > 0 || reasons !== "") return failed(outbound, reasons || FILTERED, true);
  return failed(outbound, "The vendor reported success without a result");
}

const FILTERED = "The video was rejected by the vendor's content moderation";

function operationIn(json: string): z.infer<typeof Operation> | null {
  try {
    return Operation.parse(JSON.parse(json));
  } catch {
    return null; // another shape, or no JSON
  }
}

async function headOf(response: OutboundResponse): Promise<{ readonly head: string; readonly isWhole: boolean }> {
  const decoder = new TextDecoder();
  let head = "";
  for (let piece = await response.read(); piece !== null; piece = await response.read()) {
    head += decoder.decode(piece, { stream: true });
    if (head.length <= MAX_HEAD_BYTES) continue;
    response.cancel();
    return { head, isWhole: false };
  }
  return { head, isWhole: true };
}
