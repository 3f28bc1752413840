import { CALLER_ENDPOINTS } from "../../../platform/endpoints/callers.ts";
import { addressOf } from "../../../platform/endpoints/endpoint.ts";
import { signedUrl, type SigningKeys } from "../../../platform/files/signed_url.ts";
import { secondsOf } from "../../../platform/lib/basics/clock.ts";
import { type Money, writeMoney } from "../../../platform/lib/basics/money.ts";
import { providerNameOf } from "../../../platform/names/provider_name.ts";
import { extraMirrorOf } from "./mirror_names.ts";
import type { TaskError, TaskPrice, VideoStatus, VideoTask } from "./task.ts";

/** A task as returned to its caller. Source: docs/api/videos.md#task. */
export interface TaskObject {
  readonly id: string;
  readonly status: VideoStatus;
  /** The model by the caller's name. */
  readonly model: string;
  readonly prompt: string;
  /** Addresses at the vendor; the vendor decides when they expire. */
  readonly unsigned_urls: readonly string[];
  /** Addresses at the gateway; signed again for each response. */
  readonly mirror_urls: readonly string[];
  /** Zero until the task is completed. */
  readonly usage: UsageObject;
  /** Unix seconds. */
  readonly created_at: number;
  readonly updated_at: number;
  readonly object: "video";
  readonly polling_url: string;
  /** Requested or generated duration in seconds; a string, as in OpenAI's clients. */
  readonly seconds: string;
  /** `<WIDTH>x<HEIGHT>`, if the caller gave one. */
  readonly size?: string;
  /** The caller's metadata. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Fields of the create that at least one of its providers does not support; missing if there are none. */
  readonly dropped?: readonly string[];
  /** 0 to 100; missing if the vendor does not report it. 100 once the task is completed. */
  readonly progress?: number;
  /** Number of jobs ahead of it at the vendor; only while the task is pending and the vendor reports it. */
  readonly queue_position?: number;
  /** When the vendor started, or was first known to have started, in Unix seconds; missing before. */
  readonly started_at?: number;
  /** Time of completion in Unix seconds; null unless completed. */
  readonly completed_at: number | null;
  /** The last frame of the video at the vendor, and its copy at the gateway. */
  readonly last_frame_url?: string;
  readonly last_frame_mirror_url?: string;
  /** A preview image at the vendor, and its copy at the gateway. */
  readonly thumbnail_url?: string;
  readonly thumbnail_mirror_url?: string;
  /** The provider that serves the task, once known. */
  readonly provider?: string;
  /** Only for failed tasks. */
  readonly error?: TaskError;
}

/** Seconds of a video and their cost in USD, as a decimal with ten fractional digits and as a number. */
export interface UsageObject {
  readonly video_seconds: number;
  readonly video_cost: string;
  readonly cost: number;
}

/** Dependencies for signing addresses of results. */
export interface AddressParts {
  readonly baseUrl: () => string;
  readonly signingKeys: SigningKeys;
  readonly settings: { readonly signedUrlMs: number };
}

const NOTHING: Money = 0n;

/**
 * Returns the task object.
 *
 * @param now Unix milliseconds; signed addresses are valid from then for the configured period.
 */
export function taskObjectOf(task: VideoTask, now: number, parts: AddressParts): TaskObject {
  return {
    id: task.id,
    status: task.status,
    model: task.modelName ?? task.model,
    prompt: task.prompt,
    unsigned_urls: task.results.flatMap(({ url }) => url ?? []),
    mirror_urls: task.mirrors.map((name) => mirrorUrl(name, now, parts)),
    usage: usageObjectOf(task.usage?.seconds ?? 0, task.usage?.cost ?? NOTHING),
    created_at: secondsOf(task.createdAt),
    updated_at: secondsOf(task.updatedAt),
    object: "video",
    polling_url: pollingUrlOf(task.id, parts),
    seconds: String(task.usage?.seconds ?? task.price.seconds),
    ...(task.size === undefined ? {} : { size: task.size }),
    metadata: task.metadata ?? {},
    ...(task.dropped === undefined ? {} : { dropped: task.dropped }),
    ...progressOf(task),
    completed_at: task.status === "completed" ? secondsOf(task.updatedAt) : null,
    ...extrasOf(task, now, parts),
    ...(task.stage.step === "submitted" ? { provider: providerNameOf(task.stage.provider) } : {}),
    ...(task.error ? { error: task.error } : {}),
  };
}

/** Returns the expected usage of a video. */
export function estimateOf({ seconds, estimate }: TaskPrice): UsageObject {
  return usageObjectOf(seconds, estimate);
}

function usageObjectOf(seconds: number, cost: Money): UsageObject {
  const decimal = writeMoney(cost);
  return { video_seconds: seconds, video_cost: decimal, cost: Number(decimal) };
}

/** Returns the signed address of a copy. */
export function mirrorUrl(name: string, now: number, parts: AddressParts): string {
  return signedUrl(parts.baseUrl(), name, now + parts.settings.signedUrlMs, parts.signingKeys);
}

/** Returns the address at which a task is polled. */
export function pollingUrlOf(id: string, { baseUrl }: Pick<AddressParts, "baseUrl">): string {
  return baseUrl() + addressOf(CALLER_ENDPOINTS.readVideo, { id });
}

function progressOf(
  { status, progress = {} }: VideoTask,
): Pick<TaskObject, "progress" | "queue_position" | "started_at"> {
  const { progressPercent, queuePosition, startedAt } = progress;
  const percent = status === "completed" ? 100 : progressPercent;
  const position = status === "pending" ? queuePosition : null;
  return {
    ...(typeof percent === "number" ? { progress: percent } : {}),
    ...(typeof position === "number" ? { queue_position: position } : {}),
    ...(typeof startedAt === "number" ? { started_at: secondsOf(startedAt) } : {}),
  };
}

type Extras = Pick<TaskObject, "last_frame_url" | "last_frame_mirror_url" | "thumbnail_url" | "thumbnail_mirror_url">;

function extrasOf(task: VideoTask, now: number, parts: AddressParts): Extras {
  const found: { -readonly [K in keyof Extras]: Extras[K] } = {};
  for (const [index, { type, url }] of (task.extras ?? []).entries()) {
    found[`${type}_url`] ??= url;
    const copy = extraMirrorOf(task, index);
    if (copy !== undefined) found[`${type}_mirror_url`] ??= mirrorUrl(copy, now, parts);
  }
  return found;
}
