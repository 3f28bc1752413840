import * as z from "zod";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import type { Outbound } from "../call/outbound_call.ts";
import { MEDIA_REASON } from "../shared/videos/refused_options.ts";
import { reportedUsd } from "../shared/reported_cost.ts";
import { vendorId } from "../shared/vendor_id.ts";
import { videoExchange } from "../shared/videos/video_exchange.ts";
import { failed, finished, pending, unknownStatus } from "../shared/videos/video_progress.ts";
import { shapeOf, type VideoShapes } from "../shared/videos/video_shape.ts";
import type { RefusedOptions, VideoOrder, VideoProgress, VideoUpstream } from "../contract/video_upstream.ts";
import { isPikaRefusal, kindOf, readPikaError } from "./error.ts";

/**
 * Pika 2.5 and Pikaframes. Source: Pika API documentation, "Pika 2.5 Text to Video", "Pika 2.5 Image to Video", "Pika
 * 2.5 Keyframe", as Comfy Router publishes their schemas and seven clients follow them (autumn 2026).
 */

/** There is no field for a ratio. A frame keeps its own. */
const SHAPES: VideoShapes = {
  resolutions: {
    "720p": { value: "720p", shortSide: 720 },
    "1080p": { value: "1080p", shortSide: 1_080 },
  },
  ratios: ["16:9"],
};

const REFUSED_OPTIONS: RefusedOptions = { image: MEDIA_REASON, images: MEDIA_REASON, video: MEDIA_REASON };

const text = z.string().nullish().catch(null);
const File = z.object({ url: text }).nullish().catch(null);

const Job = z.object({
  status: z.string(),
  error: z.object({ code: text, message: text }).nullish().catch(null),
  output: z.object({ video: File, videos: z.array(File).nullish().catch(null) }).nullish().catch(null),
  billing: z.object({ state: text, charge_micro_usd: z.number().nullish().catch(null) }).nullish().catch(null),
});

const Created = z.object({ id: vendorId, status: text, error: Job.shape.error });

/**
 * Creates the video upstream for Pika. The vendor cannot cancel a job, and finds none by a key, so a lost job cannot be
 * found. No `Idempotency-Key` is sent, because a known key returns its earlier job, a failed one too.
 */
export function pikaVideos(outbound: Outbound): VideoUpstream {
  const exchange = videoExchange(outbound, readPikaError);
  return {
    // An address must be https. Nothing else is accepted.
    mediaForms: { image: ["url"], audio: [], video: [] },
    async create(order) {
      const id = await exchange.create(pathOf(order), bodyOf(outbound, order), (response) => {
        const job = Created.parse(response);
        if (job.status === "failed") throw refusalOf(outbound, job.error);
        return job.id;
      });
      return { id, place: null };
    },
    poll: ({ id }) =>
      exchange.get(`/v1/media/jobs/${encodeURIComponent(id)}`, (response) => progressOf(outbound, response)),
    cancel: null,
    find: null,
    open: null,
    refusedOptions: REFUSED_OPTIONS,
    droppedFields: droppedOf,
  };
}

function pathOf({ model, mode }: VideoOrder): string {
  const kind = mode === "text2video" ? "text-to-video" : "image-to-video";
  return `/v1/media/pika/${encodeURIComponent(model)}/${kind}`;
}

function bodyOf(outbound: Outbound, order: VideoOrder): JsonObject {
  const { durationSeconds, firstFrame, lastFrame, seed } = order;
  const { resolution } = shapeOf(outbound, order, SHAPES);
  const lengthField = lastFrame === null ? "duration_s" : "transition_duration_s";
  return {
    ...order.options,
    prompt: order.prompt,
    ...(resolution !== null && { resolution }),
    ...(durationSeconds !== null && durationSeconds > 0 && { [lengthField]: durationSeconds }),
    ...(firstFrame !== null && lastFrame === null && { image: firstFrame.value }),
    ...(firstFrame !== null && lastFrame !== null && { images: [firstFrame.value, lastFrame.value] }),
    ...(seed !== null && seed >= 0 && { seed }),
  };
}

/** The vendor's videos are silent and have no field for a ratio. */
function droppedOf({ aspectRatio, generateAudio }: VideoOrder): string[] {
  return [...(generateAudio === true ? ["generate_audio"] : []), ...(aspectRatio !== null ? ["aspect_ratio"] : [])];
}

/** The failure of a job that the vendor created and refused with a success status. */
function refusalOf(outbound: Outbound, error: z.infer<typeof Created>["error"]) {
  const code = error?.code ?? null;
  return outbound.failure(kindOf(code) ?? "unavailable", error?.message ?? "", {
    vendorCode: code ?? undefined,
    isContentRefusal: isPikaRefusal(code) ? true : undefined,
  });
}

function progressOf(outbound: Outbound, response: unknown): VideoProgress {
  const { status, error, output, billing } = Job.parse(response);
  switch (status.toLowerCase()) {
    case "queued":
      return pending(false);
    case "running":
      return pending(true);
    case "completed": {
      const urls = [output?.video, ...output?.videos ?? []].map((file) => file?.url);
      // Until it is settled, the charge can change.
      const microUsd = billing?.state === "settled" ? billing.charge_micro_usd : null;
      return finished(outbound, urls, { seconds: null, costUsd: reportedUsd((microUsd ?? 0) / 1_000_000) });
    }
    case "failed":
      return failed(outbound, error?.message || error?.code || "", isPikaRefusal(error?.code));
    default:
      return unknownStatus(status);
  }
}
