import type { Medium, VideoMode } from "../../video_mode.ts";
import type { InlineFile } from "./inline_file.ts";

/** An image, audio or video in a request, in a form that the vendor accepts. */
export interface VideoMedia {
  /** The type, which selects the list in {@linkcode MediaForms}. */
  readonly medium: Medium;
  /** Detected from the bytes if they were read; null if only the URL is known. */
  readonly mediaType: string | null;
  /** A URL that the vendor can download, a `data:` URI, or base64 without a prefix: see {@linkcode MediaForms}. */
  readonly form: "url" | "data_uri" | "base64";
  /** The URL; or the content, which is written as that text while the request is sent. */
  readonly value: string | InlineFile;
}

/** The forms in which a vendor accepts media, preferred first. */
export interface MediaForms {
  /** For images; empty if not supported. */
  readonly image: readonly VideoMedia["form"][];
  /** The media types of images that are accepted. Default: `DEFAULT_IMAGE_TYPES`. */
  readonly imageTypes?: readonly string[];
  /** For audio; empty if not supported. */
  readonly audio: readonly VideoMedia["form"][];
  /** For videos; empty if not supported. */
  readonly video: readonly VideoMedia["form"][];
}

/** A request to a video model in neutral terms, already validated against the model. */
export interface VideoOrder {
  /** The gateway's task id, sent as the vendor's idempotency key or external id where there is one. */
  readonly taskId: string;
  /** The vendor's name of the model. */
  readonly model: string;
  /** The frames or references that the video is made from. */
  readonly mode: VideoMode;
  /** The prompt, as the caller wrote it. */
  readonly prompt: string;
  /**
   * Whole seconds within the model's limits; -1 if the vendor decides; null if not set, as for a reference video with
   * its own length.
   */
  readonly durationSeconds: number | null;
  /** `480p` … `4K`. With a size, the resolution that is charged. Null with a size in records of earlier versions. */
  readonly resolution: string | null;
  /** `16:9` …; null if not set or if a size is set. */
  readonly aspectRatio: string | null;
  /** In pixels; null if resolution and ratio decide. */
  readonly size: { readonly width: number; readonly height: number } | null;
  /** The first frame; null if not set. */
  readonly firstFrame: VideoMedia | null;
  /** The last frame, only with a first one; null if not set. */
  readonly lastFrame: VideoMedia | null;
  /** Subject or style references, in the caller's order. */
  readonly references: readonly VideoMedia[];
  /** Null if not set: the vendor's default applies. */
  readonly generateAudio: boolean | null;
  /** Requests a reproducible video, as far as the vendor supports it; null if not set. */
  readonly seed: number | null;
  /**
   * The caller's options for this vendor, without {@linkcode VideoUpstream.refusedOptions}. The adapter's own fields
   * take precedence.
   */
  readonly options: Readonly<Record<string, unknown>>;
  /** The gateway's callback URL for this job, which triggers a poll; null for none. */
  readonly callbackUrl: string | null;
}

/** What is stored to poll a job: its id, and whatever else its URL requires (type of path, host). */
export interface VideoJobHandle {
  /** The vendor's id of the job. */
  readonly id: string;
  /** A short value that only the adapter reads; null if the id is enough. */
  readonly place: string | null;
}

/** One result. */
export interface VideoResult {
  /** The URL of the video; null if its bytes are in a response, which `open` reads. */
  readonly url: string | null;
  /** True if the URL requires the vendor's key. It is then downloaded from the provider's own host only. */
  readonly needsCredential: boolean;
}

/** An opened result. */
export type OpenedResult =
  | { readonly bytes: AsyncIterable<Uint8Array<ArrayBuffer>> }
  /** The target of a redirect. It may be any host and receives no credential. */
  | { readonly movedTo: string };

/** An additional file of a job. */
export interface VideoExtra {
  /** `last_frame`: the last frame, to continue the video with. `thumbnail`: a preview image. */
  readonly type: "last_frame" | "thumbnail";
  /** The URL of the file. */
  readonly url: string;
}

/** What a vendor reports about a pending job. Absent or null if not reported. */
export interface VideoProgressDetails {
  /** 0 to 100. */
  readonly progressPercent?: number | null;
  /** The number of jobs before it; 0 if it is next. */
  readonly queuePosition?: number | null;
  /** The time of the start, in Unix milliseconds. */
  readonly startedAt?: number | null;
}

/** The consumption that a vendor reports. Null for what it does not report. */
export interface VideoConsumption {
  /** The length of the video. */
  readonly seconds: number | null;
  /** Decimal USD. */
  readonly costUsd: string | null;
}

/** The state of a job. Unknown vendor states mean `pending`. */
export type VideoProgress =
  | VideoProgressDetails & {
    readonly status: "pending";
    /** True once the vendor has started, when cancelling may no longer be possible; null if not reported. */
    readonly isRunning: boolean | null;
    /** The vendor's state, if the adapter does not know it. */
    readonly unknownStatus?: string;
    /** The delay that the vendor requests before the next poll. */
    readonly retryAfterSeconds?: number;
  }
  | {
    readonly status: "completed";
    readonly results: readonly VideoResult[];
    /** Absent if there are none. */
    readonly extras?: readonly VideoExtra[];
    readonly consumption: VideoConsumption;
  }
  | {
    readonly status: "failed";
    /** `content_policy_violation` for a refusal, else `upstream_error`. */
    readonly code: "content_policy_violation" | "upstream_error";
    /** The vendor's message, without secrets. */
    readonly message: string;
  }
  | { readonly status: "cancelled" }
  | { readonly status: "expired" };

/**
 * The outcome of a cancel request. `too_late`: the vendor cancels pending jobs only. `gone`: the job had already ended.
 */
export type CancelOutcome = "cancelled" | "requested" | "too_late" | "gone";

/**
 * Vendor options that no caller may set, by their names in lower case without `_` and `-`. The value is the reason or
 * the alternative, for the error message. They apply at any depth. Options that are refused for every vendor are not
 * listed.
 */
export type RefusedOptions = Readonly<Record<string, string>>;

/**
 * The video capability of a vendor. It does not depend on callers, billing or the store. Every failure is an
 * {@linkcode UpstreamFailure}. Unsupported functions are null.
 */
export interface VideoUpstream {
  /** The forms in which images, audio and videos are accepted. */
  readonly mediaForms: MediaForms;
  /** Creates a job. If a failure has `accepted: "unknown"`, the job must not be created elsewhere. */
  create(order: VideoOrder): Promise<VideoJobHandle>;
  /** Requests the state of a job. */
  poll(job: VideoJobHandle): Promise<VideoProgress>;
  /**
   * Requests the state of several jobs; absent if not supported. Jobs that the response does not contain are missing in
   * the result, by {@linkcode VideoJobHandle.id}, and are polled one by one.
   */
  readonly pollMany?: {
    /** The maximum number of jobs per request. */
    readonly limit: number;
    poll(jobs: readonly VideoJobHandle[]): Promise<ReadonlyMap<string, VideoProgress>>;
  };
  /** Null if the vendor cannot cancel a job: the caller receives `cancel_not_supported`. */
  readonly cancel: ((job: VideoJobHandle) => Promise<CancelOutcome>) | null;
  /**
   * Finds a job whose creation had no response, by an identifier of the gateway that the vendor returns. Null if the
   * vendor returns none: a similar job may be another caller's. Resolves with null if the job is not found.
   *
   * @param createdAfter Unix milliseconds; older jobs are ignored.
   */
  readonly find: ((order: VideoOrder, createdAfter: number) => Promise<VideoJobHandle | null>) | null;
  /**
   * Opens a result that requires the credential, or whose bytes are in a response; null if there are no such results.
   */
  readonly open: ((result: VideoResult, job: VideoJobHandle) => Promise<OpenedResult>) | null;
  /**
   * Options that no caller may set in `provider.options`: those that change length, count, size, audio, tier or
   * callback URL.
   */
  readonly refusedOptions?: RefusedOptions;
  /**
   * Returns the first part of a prompt that this vendor reads as an option and that changes the price, such as `--dur`;
   * null if there is none. Absent if the vendor reads no options from prompts.
   *
   * @param model The vendor's name of the model.
   */
  readonly optionInPrompt?: (prompt: string, model: string) => string | null;
  /**
   * Names the caller's fields that are not sent, because this vendor's request has no such field: `seed`,
   * `generate_audio`. The values of media are not read. Absent if every field is sent or refused.
   */
  readonly droppedFields?: (order: VideoOrder) => readonly string[];
  /** URL schemes of files in the operator's account at this vendor, such as `asset:`. Default: none. */
  readonly accountSchemes?: readonly string[];
  /** Whether a poll of a finished job returns new URLs. Default: false. */
  readonly renewsUrls?: boolean;
  /** How long result URLs are valid, in milliseconds. Default: 24 hours. */
  readonly resultLifetimeMs?: number;
}
