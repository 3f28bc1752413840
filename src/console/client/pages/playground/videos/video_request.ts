import type { Media } from "../conversation.ts";
import { type JsonObject, numberIn, objectIn, textIn } from "../../../json.ts";
import type { VideoResult } from "../../../shapes.ts";
import { areCopied, ownResultsOf, type ResultAddresses } from "../../videos/own_results.ts";
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
  /** From the create to the end; null while it is pending. */
  readonly tookMs: number | null;
  /** Videos, then their thumbnail and last frame. */
  readonly results: readonly VideoResult[];
  /** Whether the gateway has a copy of each result. */
  readonly isCopied: boolean;
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
  const addresses = addressesIn(task);
  return {
    id: textIn(task.id),
    status: textIn(task.status),
    progress: typeof task.progress === "number" ? task.progress : null,
    queuePosition: typeof task.queue_position === "number" ? task.queue_position : null,
    provider: textIn(task.provider) || null,
    cost: numberIn(amounts.cost),
    seconds: numberIn(amounts.video_seconds),
    tookMs: tookMs(task),
    results: ownResultsOf(addresses),
    isCopied: areCopied(addresses),
    error: error === undefined || error === null
      ? null
      : { code: textIn(failure.code), message: textIn(failure.message) },
  };
}

/** Instants are whole seconds. A task that was completed may have changed later, by copies. */
function tookMs({ status, created_at, updated_at, completed_at }: JsonObject): number | null {
  if (status === "pending" || status === undefined) return null;
  return (numberIn(completed_at ?? updated_at) - numberIn(created_at)) * 1_000;
}

function addressesIn(task: JsonObject): ResultAddresses {
  const optional = (name: string) => textIn(task[name]) || undefined;
  return {
    unsigned_urls: textsIn(task.unsigned_urls),
    mirror_urls: textsIn(task.mirror_urls),
    thumbnail_url: optional("thumbnail_url"),
    thumbnail_mirror_url: optional("thumbnail_mirror_url"),
    last_frame_url: optional("last_frame_url"),
    last_frame_mirror_url: optional("last_frame_mirror_url"),
  };
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}
