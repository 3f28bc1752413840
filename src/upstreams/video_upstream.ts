/** How a video is made. Source: SPEC "POST /v1/videos (create)". */
export type VideoOrderMode = "text2video" | "img2video" | "img2video_end" | "imgref2video" | "mixref2video";

/** A picture, sound or video that an order refers to, in the form that the vendor said it takes. */
export interface VideoMedia {
  /** What it is; says which list of {@linkcode MediaForms} holds. */
  readonly medium: "image" | "audio" | "video";
  /** By the bytes where they were looked at; null when only the address is known. */
  readonly mediaType: string | null;
  /** An address that the vendor can fetch, or a `data:` URI, or bare base64: see {@linkcode MediaForms}. */
  readonly form: "url" | "data_uri" | "base64";
  /** The address, the URI or the base64 text, as `form` says. */
  readonly value: string;
}

/** The forms in which a vendor takes a medium, the one it likes best first. */
export interface MediaForms {
  /** For pictures; empty when the vendor takes none. */
  readonly image: readonly VideoMedia["form"][];
  /** For sounds; empty when the vendor takes none. */
  readonly audio: readonly VideoMedia["form"][];
  /** For videos; empty when the vendor takes none. */
  readonly video: readonly VideoMedia["form"][];
}

/** What a caller asks of a video model, in neutral words and already checked against the model. */
export interface VideoOrder {
  /** Our task's id: the vendor's idempotency key or external id, where it has one. */
  readonly taskId: string;
  /** The vendor's name of the model. */
  readonly model: string;
  /** Which frames or references the video is made from. */
  readonly mode: VideoOrderMode;
  /** What is to be seen, in the caller's words. */
  readonly prompt: string;
  /** Whole seconds, within what the model makes. */
  readonly durationSeconds: number;
  /** `480p` … `4K`; beside a size what it is priced as, or null. */
  readonly resolution: string | null;
  /** `16:9` …; null when nothing was said or a size was given. */
  readonly aspectRatio: string | null;
  /** Pixels; null when resolution and ratio say all. */
  readonly size: { readonly width: number; readonly height: number } | null;
  /** The picture that the video begins with; null when it is free. */
  readonly firstFrame: VideoMedia | null;
  /** The picture that the video ends with, only beside a first one; null when it is free. */
  readonly lastFrame: VideoMedia | null;
  /** Subject or style guidance, in the caller's order. */
  readonly references: readonly VideoMedia[];
  /** Null when the caller did not say: the vendor's default holds. */
  readonly generateAudio: boolean | null;
  /** Asks for the same video each time, as far as a vendor keeps to it; null when nothing was said. */
  readonly seed: number | null;
  /** `provider.options` of the caller, passed on as it is; own fields win over it. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** What must be kept to ask about a job again: its id, and whatever else its address needs (kind of path, host). */
export interface VideoJobHandle {
  /** The vendor's name of the job. */
  readonly id: string;
  /** Small, of the adapter's own making; null when the id is enough. */
  readonly place: string | null;
}

/** One result. */
export interface VideoResult {
  /** Where the vendor keeps the video. */
  readonly url: string;
  /** True when only the vendor's key opens it; then it is fetched from the provider's own host alone. */
  readonly needsCredential: boolean;
}

/** What a vendor reports of its consumption. Null for what it does not report. */
export interface VideoConsumption {
  /** Length of what was made. */
  readonly seconds: number | null;
  /** Decimal USD. */
  readonly costUsd: string | null;
}

/** How a job stands. Words of a vendor that nobody knows mean `pending`. */
export type VideoProgress =
  | {
    readonly status: "pending";
    /** True once the vendor works on it, so that a queue's cancel comes too late; null where it does not say. */
    readonly isRunning: boolean | null;
    /** The vendor's word, when it is one the adapter does not know. */
    readonly unknownWord?: string;
    /** The vendor asks to be left alone for so long. */
    readonly retryAfterSeconds?: number;
  }
  | { readonly status: "completed"; readonly results: readonly VideoResult[]; readonly consumption: VideoConsumption }
  | {
    readonly status: "failed";
    /** `content_policy_violation` for a refusal, else `upstream_error`. */
    readonly code: "content_policy_violation" | "upstream_error";
    /** The vendor's words, free of secrets. */
    readonly message: string;
  }
  | { readonly status: "cancelled" }
  | { readonly status: "expired" };

/** How a cancel ended. `too_late`: the vendor only cancels before it begins. `gone`: the job had ended already. */
export type CancelOutcome = "cancelled" | "requested" | "too_late" | "gone";

/**
 * A vendor that makes videos. Knows no caller, no money and no store; every failure is an {@linkcode UpstreamFailure}. What a
 * vendor lacks is null.
 */
export interface VideoUpstream {
  /** In which forms it takes pictures, sounds and videos. */
  readonly mediaForms: MediaForms;
  /**
   * Starts a job. A failure's `accepted` tells whether the vendor can have begun: with `unknown` the job must not be created
   * anywhere else.
   */
  create(order: VideoOrder): Promise<VideoJobHandle>;
  /** Asks how a job stands. */
  poll(job: VideoJobHandle): Promise<VideoProgress>;
  /** Null where the vendor cannot stop a job: the caller gets `cancel_not_supported`. */
  readonly cancel: ((job: VideoJobHandle) => Promise<CancelOutcome>) | null;
  /**
   * Finds a job whose creation was not answered, by a mark of ours that the vendor repeats; null where it repeats none,
   * since a job that only looks alike may be another caller's. Null is also the answer when it was not found.
   *
   * @param createdAfter Unix milliseconds; older jobs are not looked at.
   */
  readonly find: ((order: VideoOrder, createdAfter: number) => Promise<VideoJobHandle | null>) | null;
  /** Opens a result that needs the credential: the answer's body, to be streamed; null where no result ever does. */
  readonly open: ((result: VideoResult) => Promise<AsyncIterable<Uint8Array<ArrayBuffer>>>) | null;
}
