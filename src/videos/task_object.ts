import { signedUrl, type SigningKeys } from "../files/signed_url.ts";
import { type Money, writeMoney } from "../lib/money.ts";
import type { TaskError, VideoStatus, VideoTask } from "./task.ts";

/** A task as its caller sees it. Source: SPEC "Video task"; `error` and `provider` are additions of DESIGN section 4. */
export interface TaskObject {
  readonly id: string;
  readonly status: VideoStatus;
  /** As the caller named it. */
  readonly model: string;
  readonly prompt: string;
  /** At the vendor; they die when the vendor says. */
  readonly unsigned_urls: readonly string[];
  /** At the gateway; made anew with each look. */
  readonly mirror_urls: readonly string[];
  /** Zero until the task is completed. */
  readonly usage: { readonly video_seconds: number; readonly video_cost: string };
  /** Unix seconds. */
  readonly created_at: number;
  readonly updated_at: number;
  /** Who serves it, once that is known. */
  readonly provider?: string;
  /** Of failed tasks. */
  readonly error?: TaskError;
}

/** What signed addresses of results are made with. */
export interface AddressParts {
  readonly baseUrl: () => string;
  readonly signingKeys: SigningKeys;
  readonly settings: { readonly signedUrlMs: number };
}

const NOTHING: Money = 0n;

/**
 * The task object.
 *
 * @param now Unix milliseconds: signed addresses work from then on for the configured span.
 */
export function taskObjectOf(task: VideoTask, now: number, parts: AddressParts): TaskObject {
  return {
    id: task.id,
    status: task.status,
    model: task.modelName ?? task.model,
    prompt: task.prompt,
    unsigned_urls: task.results.flatMap(({ url }) => url ?? []),
    mirror_urls: task.mirrors.map((name) => mirrorUrl(name, now, parts)),
    usage: { video_seconds: task.usage?.seconds ?? 0, video_cost: writeMoney(task.usage?.cost ?? NOTHING) },
    created_at: Math.floor(task.createdAt / 1000),
    updated_at: Math.floor(task.updatedAt / 1000),
    ...(task.stage.step === "submitted" ? { provider: task.stage.provider } : {}),
    ...(task.error ? { error: task.error } : {}),
  };
}

/** The signed address of a copy. */
export function mirrorUrl(name: string, now: number, parts: AddressParts): string {
  return signedUrl(parts.baseUrl(), name, now + parts.settings.signedUrlMs, parts.signingKeys);
}
