import { DEFAULT_IMAGE_TYPES } from "../../../platform/lib/media/media_type.ts";
import * as z from "zod";
import type { VideoMode } from "../../video_mode.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { ERROR_TEXTS } from "../call/error_texts.ts";
import { UpstreamFailure } from "../call/failure.ts";
import { isGoogleRefusal, readGoogleRefusal } from "../shared/google_refusal.ts";
import type { Outbound } from "../call/outbound_call.ts";
import { openStreamedResult } from "../shared/videos/streamed_result.ts";
import { type VideoExchange, videoExchange } from "../shared/videos/video_exchange.ts";
import { failed, pending, unknownStatus } from "../shared/videos/video_progress.ts";
import { shapeOf, type VideoShapes } from "../shared/videos/video_shape.ts";
import type {
  CancelOutcome,
  OpenedResult,
  RefusedOptions,
  VideoJobHandle,
  VideoMedia,
  VideoOrder,
  VideoProgress,
  VideoUpstream,
} from "../contract/video_upstream.ts";

/**
 * Gemini Omni creates videos as background interactions. Source: Gemini API reference, "Interactions" (create, get,
 * cancel) and "Files" (download).
 */

const INTERACTIONS = "/v1beta/interactions";

const SHAPES: VideoShapes = {
  resolutions: {
    "720p": { value: "720p", shortSide: 720 },
    "1080p": { value: "1080p", shortSide: 1_080 },
    "4K": { value: "4k", shortSide: 2_160 },
  },
  ratios: ["16:9", "9:16"],
};

/** The task of each mode. For mixed references the model decides itself. */
const TASKS: Readonly<Partial<Record<VideoMode, string>>> = {
  text2video: "text_to_video",
  img2video: "image_to_video",
  img2video_end: "image_to_video",
  imgref2video: "reference_to_video",
};

/** Inline videos are small: the vendor stores larger ones as files. */
const MAX_RESPONSE_BYTES = 16_777_216;
/** The number of base64 characters decoded at once. */
const PIECE_CHARACTERS = 1_048_576;
/** The vendor stores files for two days. */
const FILE_LIFETIME_MS = 48 * 3_600_000;

const text = z.string().nullish().catch(null);

const Created = z.object({ id: z.string().min(1) });

const Part = z.object({ type: text, uri: text, data: text, text });

const Interaction = z.object({
  status: z.string(),
  steps: z.array(z.object({ type: text, content: z.array(Part).nullish().catch(null) })).nullish().catch(null),
  error: z.object({ code: z.union([z.string(), z.number()]).nullish().catch(null), message: text }).nullish()
    .catch(null),
});

type ResponseBody = z.infer<typeof Interaction>;

const OUTPUT_REASON = "it changes the output and its price";
const STATE_REASON = "it names state or tools in the operator's vendor account";

const REFUSED_OPTIONS: RefusedOptions = {
  responseformat: 'use "resolution", "aspect_ratio" and "duration"',
  responsemodalities: OUTPUT_REASON,
  videoconfig: OUTPUT_REASON,
  task: OUTPUT_REASON,
  servicetier: OUTPUT_REASON,
  maxtotaltokens: OUTPUT_REASON,
  input: 'use "prompt", "frame_images" and "input_references"',
  background: OUTPUT_REASON,
  store: OUTPUT_REASON,
  stream: OUTPUT_REASON,
  agent: STATE_REASON,
  agentconfig: STATE_REASON,
  environment: STATE_REASON,
  tools: STATE_REASON,
  cachedcontent: STATE_REASON,
  previousinteractionid: STATE_REASON,
  continuationtoken: STATE_REASON,
  labels: STATE_REASON,
};

/** Source: Google Cloud, "Gemini Omni Flash Preview", "Supported MIME types", as of autumn 2026. */
const IMAGE_TYPES = [...DEFAULT_IMAGE_TYPES, "image/heic", "image/heif"];

/**
 * Creates the video upstream for Google. The vendor returns no client-supplied identifier, so a lost interaction cannot
 * be found.
 */
export function googleVideos(outbound: Outbound): VideoUpstream {
  const exchange = videoExchange(outbound, readGoogleRefusal, { capBytes: MAX_RESPONSE_BYTES });
  return {
    // The vendor does not download URLs: media are sent inline.
    mediaForms: { image: ["base64"], imageTypes: IMAGE_TYPES, audio: [], video: ["base64"] },
    async create(order) {
      const { id } = await exchange.create(
        INTERACTIONS,
        bodyOf(outbound, order),
        (response) => Created.parse(response),
      );
      return { id, place: null };
    },
    async poll(job) {
      try {
        return await exchange.get(pathOf(job), (response) => progressOf(outbound, Interaction.parse(response)));
      } catch (thrown) {
        throw thrown instanceof UpstreamFailure ? withMissingStatus(thrown) : thrown;
      }
    },
    cancel: (job) => cancel(exchange, job),
    find: null,
    open: (result, job) => result.url === null ? openInline(exchange, job) : openFile(outbound, result.url),
    refusedOptions: REFUSED_OPTIONS,
    // Every video has audio.
    droppedFields: ({ generateAudio }) => generateAudio === false ? ["generate_audio"] : [],
    renewsUrls: true,
    resultLifetimeMs: FILE_LIFETIME_MS,
  };
}

function pathOf({ id }: VideoJobHandle): string {
  return `${INTERACTIONS}/${encodeURIComponent(id)}`;
}

function bodyOf(outbound: Outbound, order: VideoOrder): JsonObject {
  const { resolution, ratio } = shapeOf(outbound, order, SHAPES);
  const { generation_config: config, ...options } = order.options;
  const task = TASKS[order.mode];
  return {
    ...options,
    model: order.model,
    input: [...mediaOf(order), { type: "text", text: order.prompt }],
    background: true,
    response_format: {
      type: "video",
      delivery: "uri",
      ...(ratio !== null && { aspect_ratio: ratio }),
      ...(resolution !== null && { resolution }),
      // A protobuf duration. The vendor rejects a number.
      ...(order.durationSeconds !== null && order.durationSeconds > 0 && { duration: `${order.durationSeconds}s` }),
    },
    generation_config: {
      ...(typeof config === "object" ? config : {}),
      ...(order.seed !== null && { seed: order.seed }),
      ...(task !== undefined && { video_config: { task } }),
    },
    ...(order.callbackUrl !== null && { webhook_config: { uris: [order.callbackUrl] } }),
  };
}

/** Frames are sent in chronological order. */
function mediaOf({ firstFrame, lastFrame, references }: VideoOrder): JsonObject[] {
  const media = [firstFrame, lastFrame, ...references].filter((each): each is VideoMedia => each !== null);
  return media.map(({ medium, mediaType, value }) => ({
    type: medium,
    ...(mediaType !== null && { mime_type: mediaType }),
    data: value,
  }));
}

function progressOf(outbound: Outbound, interaction: ResponseBody): VideoProgress {
  const { status, error } = interaction;
  switch (status.toLowerCase()) {
    case "queued":
      return pending(false);
    case "in_progress":
      return pending(true);
    case "completed":
      return resultOf(outbound, interaction);
    case "cancelled":
    case "canceled":
      return { status: "cancelled" };
    case "failed":
    case "incomplete":
    case "budget_exceeded":
    case "requires_action":
    case "requires_continuation":
      return failed(
        outbound,
        error?.message || `The interaction ended with the status ${status}`,
        isGoogleRefusal(error?.code, error?.message),
      );
    default:
      return unknownStatus(status);
  }
}

/** The vendor reports a refusal as a success with text and without a video. */
function resultOf(outbound: Outbound, interaction: ResponseBody): VideoProgress {
  const parts = outputsOf(interaction);
  const results = parts.filter(isVideo).map(({ uri }) => ({ url: uri || null, needsCredential: true }));
  if (results.length > 0) return { status: "completed", results, consumption: { seconds: null, costUsd: null } };
  const text = parts.map((part) => part.text ?? "").join(" ").trim();
  return failed(outbound, text || "The vendor reported success without a result", text !== "");
}

function outputsOf({ steps }: ResponseBody): z.infer<typeof Part>[] {
  return (steps ?? []).filter(({ type }) => type === "model_output").flatMap((step) => step.content ?? []);
}

function isVideo({ type, uri, data }: z.infer<typeof Part>): boolean {
  return type === "video" && Boolean(uri || data);
}

/** Returns the failure with the status 404, which other vendors return, if the vendor does not have the interaction. */
function withMissingStatus(failure: UpstreamFailure): UpstreamFailure {
  const { provider, kind, message, facts } = failure;
  if (facts.status !== 400 || !ERROR_TEXTS.geminiInteractionMissing.test(message)) return failure;
  return new UpstreamFailure(provider, kind, message, { ...facts, status: 404 });
}

async function cancel(exchange: VideoExchange, job: VideoJobHandle): Promise<CancelOutcome> {
  try {
    await exchange.send("POST", `${pathOf(job)}/cancel`);
    // Most running jobs stop, but not all.
    return "requested";
  } catch (thrown) {
    const status = thrown instanceof UpstreamFailure ? thrown.facts.status : null;
    if (status === 400 || status === 404 || status === 409) return "gone";
    throw thrown;
  }
}

async function openFile(outbound: Outbound, url: string): Promise<OpenedResult> {
  const path = outbound.pathOf(url);
  if (path === null) throw outbound.failure("broken", "The result URL is not on the provider's host");
  return await openStreamedResult(outbound, { path, url }, readGoogleRefusal);
}

async function openInline(exchange: VideoExchange, job: VideoJobHandle): Promise<OpenedResult> {
  const data = await exchange.get(pathOf(job), (response) => {
    const part = outputsOf(Interaction.parse(response)).find((each) => isVideo(each) && each.data);
    if (part === undefined) throw new TypeError("The interaction no longer contains a video");
    return part.data!;
  });
  return { bytes: decodeBase64(data) };
}

/** Decodes base64 in pieces, so that a large video does not block other requests. */
async function* decodeBase64(data: string): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for (let at = 0; at < data.length; at += PIECE_CHARACTERS) {
    yield await Promise.resolve(Uint8Array.fromBase64(data.slice(at, at + PIECE_CHARACTERS)));
  }
}
