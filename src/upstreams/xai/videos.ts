import * as z from "zod";
import type { JsonObject } from "../../conversation/codec.ts";
import { chat } from "../../conversation/codecs/chat/mod.ts";
import { LARGEST_MONEY, writeMoney } from "../../lib/money.ts";
import { UpstreamFailure } from "../failure.ts";
import type { Outbound, VendorRefusal } from "../outbound.ts";
import { videoExchange } from "../video_exchange.ts";
import { failed, failedWith, finished, pending, pendingAs } from "../video_progress.ts";
import { shapeOf, type VideoShapes } from "../video_shape.ts";
import type { VideoConsumption, VideoMedia, VideoOrder, VideoProgress, VideoUpstream } from "../video_upstream.ts";

/** Grok Imagine video. Source: xAI API reference, "Video generations". */

const SHAPES: VideoShapes = {
  resolutions: {
    "480p": { word: "480p", shortSide: 480 },
    "720p": { word: "720p", shortSide: 720 },
    "1080p": { word: "1080p", shortSide: 1_080 },
  },
  ratios: ["16:9", "9:16", "1:1", "4:3", "3:4", "3:2", "2:3"],
};

const text = z.string().nullish().catch(null);

const Created = z.object({ request_id: z.string().min(1) });

const Job = z.object({
  status: text,
  video: z.object({
    url: text,
    duration: z.number().nonnegative().nullish().catch(null),
    respect_moderation: z.boolean().nullish().catch(null),
  }).nullish().catch(null),
  usage: z.object({ cost_in_usd_ticks: z.number().int().nonnegative().nullish().catch(null) }).nullish().catch(null),
  error: z.object({ code: text, message: text }).nullish().catch(null),
});

/** xAI as a video upstream. It cannot stop a job, and repeats nothing of ours by which one could be found again. */
export function xaiVideos(outbound: Outbound): VideoUpstream {
  const exchange = videoExchange(outbound, readRefusal);
  return {
    mediaForms: { image: ["url", "data_uri"], audio: ["url", "data_uri"], video: [] },
    async create(order) {
      const body = bodyOf(outbound, order);
      const { request_id } = await exchange.create("/videos/generations", body, (answer) => Created.parse(answer));
      return { id: request_id, place: null };
    },
    async poll({ id }) {
      try {
        return await exchange.ask(`/videos/${encodeURIComponent(id)}`, (answer) => progressOf(outbound, answer));
      } catch (thrown) {
        // The verdict of the moderation can come as a 400 to the question how the job stands.
        if (thrown instanceof UpstreamFailure && thrown.facts.isContentRefusal) return failedWith(thrown);
        throw thrown;
      }
    },
    cancel: null,
    find: null,
    open: null,
  };
}

function bodyOf(outbound: Outbound, order: VideoOrder): JsonObject {
  const { firstFrame, lastFrame } = order;
  const { resolution, ratio } = shapeOf(outbound, order, SHAPES);
  const images = addressesOf(order, "image");
  const audios = addressesOf(order, "audio");
  return {
    ...order.options,
    model: order.model,
    prompt: order.prompt,
    duration: order.durationSeconds,
    ...(resolution !== null && { resolution }),
    ...(ratio !== null && { aspect_ratio: ratio }),
    ...(firstFrame !== null && { image: { url: firstFrame.value } }),
    ...(lastFrame !== null && { last_frame: { url: lastFrame.value } }),
    ...(images.length > 0 && { reference_images: images }),
    ...(audios.length > 0 && { reference_audios: audios }),
    // Sound is the default, and not every model knows the field.
    ...(order.generateAudio === false && { generate_audio: false }),
  };
}

function addressesOf({ references }: VideoOrder, medium: VideoMedia["medium"]): JsonObject[] {
  return references.filter((media) => media.medium === medium).map(({ value }) => ({ url: value }));
}

function progressOf(outbound: Outbound, answer: unknown): VideoProgress {
  // A pending job is a 202, at times without a body.
  if (answer === null) return pending(null);
  const { status, video, error, usage } = Job.parse(answer);
  switch (status?.toLowerCase() ?? (video?.url ? "done" : "")) {
    case "pending":
      return pending(null);
    case "done":
      // A refusal is told as success: without an address, and with this mark or not.
      if (video?.respect_moderation === false) return failed(outbound, REFUSED, true);
      return finished(outbound, [video?.url], consumptionOf(video?.duration, usage?.cost_in_usd_ticks));
    case "failed": {
      const said = error?.message || error?.code || "";
      return failed(outbound, said, isRefusal(said));
    }
    case "expired":
      return { status: "expired" };
    default:
      return pendingAs(status ?? "");
  }
}

const REFUSED = "The video was rejected by the vendor's content moderation";

/** A tick is 10^-10 USD, as our own unit is. */
function consumptionOf(
  seconds: number | null | undefined,
  ticks: number | null | undefined,
): VideoConsumption {
  const cost = typeof ticks === "number" && Number.isSafeInteger(ticks) ? BigInt(ticks) : null;
  return { seconds: seconds ?? null, costUsd: cost === null || cost > LARGEST_MONEY ? null : writeMoney(cost) };
}

/** The vendor has no code for a refusal, only its words. */
function isRefusal(said: string): boolean {
  return /content moderation|usage guidelines|SAFETY_CHECK/i.test(said);
}

function readRefusal(body: unknown): VendorRefusal {
  const said = chat.readError(body);
  return isRefusal(said.message) ? { ...said, kind: "invalid", isContentRefusal: true } : said;
}
