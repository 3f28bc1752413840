import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import type { Call } from "../call.ts";
import type { DecodedImage, SimulatedImageFormat } from "../pictures/file.ts";
import { simulateImage } from "../pictures/make.ts";
import { stateOf, type VideoJob } from "./video_jobs.ts";

/** The size and format of a job's picture. */
export interface ImageJobShape {
  /** In pixels. */
  readonly width: number;
  /** In pixels. */
  readonly height: number;
  readonly format: SimulatedImageFormat;
  readonly references: readonly DecodedImage[];
}

/**
 * Returns a picture of a job that succeeded. Any other job, and a job whose prompt requests it, gives 404.
 *
 * @param nth Which of the job's pictures, from 0.
 * @param shapeOf Parses the request that created the job.
 */
export async function simulatedImageOf(
  { vendors }: Call,
  job: VideoJob | undefined,
  nth: number,
  shapeOf: (body: JsonObject) => Promise<ImageJobShape>,
): Promise<Response> {
  if (!job || job.directives.missing || stateOf(vendors, job) !== "succeeded") {
    return new Response("Not found", { status: 404 });
  }
  const { format, ...shape } = await shapeOf(job.body);
  const prompt = `${promptIn(job.body)} ${nth}`;
  const { base64 } = await simulateImage({ ...shape, format, prompt, isTransparent: false, change: null });
  return new Response(Uint8Array.fromBase64(base64), { headers: { "content-type": `image/${format}` } });
}

function promptIn(body: JsonObject): string {
  return typeof body.prompt === "string" ? body.prompt : "";
}
