import type { Media } from "../conversation.ts";
import { type JsonObject, numberIn, objectIn, textIn } from "../../../json.ts";
import { dataUrl } from "../protocols/media.ts";

/** What a person has chosen for a video. Empty texts leave a choice to the model. */
export interface VideoOrder {
  readonly model: string;
  readonly prompt: string;
  /** Seconds. */
  readonly duration: string;
  readonly resolution: string;
  readonly aspectRatio: string;
  /** `true`, `false` or empty. */
  readonly audio: string;
  readonly seed: string;
  readonly firstFrame: Media | null;
  readonly lastFrame: Media | null;
  readonly references: readonly Media[];
}

/** A video task, as far as it is shown. Source: docs/api/videos.md#task. */
export interface VideoTask {
  readonly id: string;
  readonly status: string;
  /** Percent; null while the vendor reports none. */
  readonly progress: number | null;
  readonly queuePosition: number | null;
  readonly provider: string | null;
  /** US dollars: estimated until it is completed. */
  readonly cost: number;
  readonly seconds: number;
  /** Copies at the gateway, then results at the vendor. */
  readonly urls: readonly string[];
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** Writes the body of a create. Source: docs/api/videos.md#create. */
export function writeVideoBody(order: VideoOrder): JsonObject {
  const { model, prompt, duration, resolution, aspectRatio, audio, seed, firstFrame, lastFrame, references } = order;
  const frames = [
    ...firstFrame === null ? [] : [{ ...writeReference(firstFrame), frame_type: "first_frame" }],
    ...lastFrame === null ? [] : [{ ...writeReference(lastFrame), frame_type: "last_frame" }],
  ];
  return {
    model,
    prompt,
    ...duration !== "" && { duration: Number(duration) },
    ...resolution !== "" && { resolution },
    ...aspectRatio !== "" && { aspect_ratio: aspectRatio },
    ...audio !== "" && { generate_audio: audio === "true" },
    ...seed !== "" && { seed: Number(seed) },
    ...frames.length > 0 && { frame_images: frames },
    ...references.length > 0 && { input_references: references.map(writeReference) },
  };
}

function writeReference(file: Media): JsonObject {
  const type = file.mediaType.startsWith("audio/")
    ? "audio_url"
    : file.mediaType.startsWith("video/")
    ? "video_url"
    : "image_url";
  return { type, [type]: { url: dataUrl(file) } };
}

/** Reads a task, or the answer to a create, which has an estimate in place of the usage. */
export function readTask(body: unknown): VideoTask {
  const task = objectIn(body);
  const { usage, estimate, error } = task;
  const amounts = objectIn(usage ?? estimate);
  const failure = objectIn(error);
  return {
    id: textIn(task.id),
    status: textIn(task.status),
    progress: typeof task.progress === "number" ? task.progress : null,
    queuePosition: typeof task.queue_position === "number" ? task.queue_position : null,
    provider: textIn(task.provider) || null,
    cost: numberIn(amounts.cost),
    seconds: numberIn(amounts.video_seconds),
    urls: [...textsIn(task.mirror_urls), ...textsIn(task.unsigned_urls)],
    error: error === undefined || error === null
      ? null
      : { code: textIn(failure.code), message: textIn(failure.message) },
  };
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}
