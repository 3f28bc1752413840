import * as z from "zod";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import type { UpstreamFailure } from "../call/failure.ts";
import type { Outbound } from "../call/outbound_call.ts";
import { vendorId } from "../shared/vendor_id.ts";
import type { VideoExchange } from "../shared/videos/video_exchange.ts";
import { failed, finished, pending, unknownStatus } from "../shared/videos/video_progress.ts";
import { shapeOf, type VideoShapes } from "../shared/videos/video_shape.ts";
import type { VideoJobHandle, VideoOrder, VideoProgress } from "../contract/video_upstream.ts";
import { errorCode, meaningOf } from "./refusal.ts";

/**
 * Hailuo and earlier models. Every response has the status 200 and reports its outcome as a code. Source: MiniMax API
 * reference, "Video generation" (create, query), "File retrieve".
 */

/** The `place` of a job of this version. */
export const VERSION_1 = "v1";

/** The model that keeps a person's face, from images of one person. */
const SUBJECT_MODEL = "S2V-01";

const SHAPES: VideoShapes = {
  resolutions: {
    "480p": { value: "512P", shortSide: 512 },
    "720p": { value: "768P", shortSide: 768 },
    "1080p": { value: "1080P", shortSide: 1_080 },
  },
  ratios: ["16:9"],
};

const BaseResponse = z.object({ status_code: errorCode, status_msg: z.string().nullish().catch(null) }).nullish()
  .catch(null);
const Created = z.object({ task_id: vendorId });
const Query = z.object({ status: z.string(), file_id: vendorId.nullish().catch(null), base_resp: BaseResponse });
const File = z.object({ file: z.object({ download_url: z.string().nullish() }).nullish() });
const Envelope = z.object({ base_resp: BaseResponse });

/** Whether the model belongs to version 1 of the API, as all but the H3 family do. */
export function isHailuo(model: string): boolean {
  return !/^MiniMax-H\d/i.test(model);
}

/** Creates a job. */
export async function createHailuo(
  outbound: Outbound,
  exchange: VideoExchange,
  order: VideoOrder,
): Promise<VideoJobHandle> {
  const { task_id } = await exchange.create("/v1/video_generation", bodyOf(outbound, order), (response) => {
    throwReportedFailure(outbound, response);
    return Created.parse(response);
  });
  return { id: task_id, place: VERSION_1 };
}

/** Polls a job. Once it has a file, requests its URL. */
export async function pollHailuo(
  outbound: Outbound,
  exchange: VideoExchange,
  { id }: VideoJobHandle,
): Promise<VideoProgress> {
  const job = await exchange.get(`/v1/query/video_generation?task_id=${encodeURIComponent(id)}`, (response) => {
    const query = Query.safeParse(response);
    // A failed job has a code, too. It is that of the job's failure, not of the poll.
    if (query.data?.status.toLowerCase() !== "fail") throwReportedFailure(outbound, response);
    return Query.parse(response);
  });
  switch (job.status.toLowerCase()) {
    case "preparing":
    case "queueing":
      return pending(false);
    case "processing":
      return pending(true);
    case "success":
      return finished(outbound, [await fileUrlOf(outbound, exchange, job.file_id)], { seconds: null, costUsd: null });
    case "fail": {
      const code = job.base_resp?.status_code;
      return failed(outbound, job.base_resp?.status_msg ?? "", code ? meaningOf(code).isContentRefusal : false);
    }
    default:
      return unknownStatus(job.status);
  }
}

async function fileUrlOf(outbound: Outbound, exchange: VideoExchange, file: string | null | undefined) {
  if (!file) return null;
  return await exchange.get(`/v1/files/retrieve?file_id=${encodeURIComponent(file)}`, (response) => {
    throwReportedFailure(outbound, response);
    return File.parse(response).file?.download_url;
  });
}

function bodyOf(outbound: Outbound, order: VideoOrder): JsonObject {
  const { firstFrame, lastFrame, references } = order;
  const { resolution, ratio } = shapeOf(outbound, order, SHAPES);
  // There is no ratio field: text prompts create 16:9, and frames keep their own ratio.
  if (ratio !== null && ratio !== SHAPES.ratios[0] && firstFrame === null) {
    const message = `"${order.model}" does not support the aspect ratio ${ratio}: expected ${SHAPES.ratios[0]}`;
    throw outbound.failure("invalid", message, { field: "aspect_ratio" });
  }
  return {
    ...order.options,
    model: order.model,
    prompt: order.prompt,
    ...(order.durationSeconds !== null && { duration: order.durationSeconds }),
    ...(resolution !== null && { resolution }),
    ...(order.callbackUrl !== null && { callback_url: order.callbackUrl }),
    ...(firstFrame !== null && { first_frame_image: firstFrame.value }),
    ...(lastFrame !== null && { last_frame_image: lastFrame.value }),
    ...(references.length > 0 && order.model === SUBJECT_MODEL && {
      subject_reference: [{ type: "character", image: references.map(({ value }) => value) }],
    }),
  };
}

/** Throws the failure that a status 200 response reports. The code zero means success. */
export function throwReportedFailure(outbound: Outbound, response: unknown): void {
  const result = Envelope.safeParse(response).data?.base_resp;
  if (!result || result.status_code === null || result.status_code === "0") return;
  throw reportedFailure(outbound, result.status_code, result.status_msg ?? "");
}

function reportedFailure(outbound: Outbound, code: string, message: string): UpstreamFailure {
  const { kind, accepted, isContentRefusal } = meaningOf(code);
  return outbound.failure(kind, message, { vendorCode: code, accepted, isContentRefusal });
}
