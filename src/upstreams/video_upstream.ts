import type { Medium, VideoMode } from "../lib/video_mode.ts";

/** A picture, sound or video that an order refers to, in the form that the vendor said it takes. */
export interface VideoMedia {
  /** What it is; says which list of {@linkcode MediaForms} holds. */
  readonly medium: Medium;
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
  readonly mode: VideoMode;
  /** What is to be seen, in the caller's words. */
  readonly prompt: string;
  /**
   * Whole seconds, within what the model makes; -1 where the caller leaves the length to the vendor; null where nothing
   * is said of it, as for a reference video whose own length holds.
   */
  readonly durationSeconds: number | null;
  /** `480p` … `4K`; beside a size what it is priced as. Null beside a size in records of earlier versions. */
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
  /**
   * What the caller set for this vendor alone, free of {@linkcode VideoUpstream.refusedOptions}; own fields win over
   * it.
   */
  readonly options: Readonly<Record<string, unknown>>;
  /** The gateway's own address for the vendor's news of this job, which it takes as a reason to poll; null for none. */
  readonly callbackUrl: string | null;
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
  /** Where the vendor keeps the video; null when its bytes come in an answer, from which `open` takes them. */
  readonly url: string | null;
  /** True when only the vendor's key opens it; then it is fetched from the provider's own host alone. */
  readonly needsCredential: boolean;
}

/** An opened result. */
export type OpenedResult =
  | { readonly bytes: AsyncIterable<Uint8Array<ArrayBuffer>> }
  /** The vendor sends on to this address, which may be anywhere and gets no credential. */
  | { readonly movedTo: string };

/** Something else that a vendor makes beside the video. */
export interface VideoExtra {
  /** `last_frame`: the video's last picture, to begin the next one with. `thumbnail`: a picture that stands for it. */
  readonly type: "last_frame" | "thumbnail";
  /** Where the vendor keeps it. */
  readonly url: string;
}

/** What a vendor tells of a job that goes on. Missing or null for what it does not tell. */
export interface VideoProgressDetails {
  /** 0 to 100. */
  readonly progressPercent?: number | null;
  /** How many jobs are before it; 0 when it is next. */
  readonly queuePosition?: number | null;
  /** Unix milliseconds at which the vendor began with it. */
  readonly startedAt?: number | null;
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
  | VideoProgressDetails & {
    readonly status: "pending";
    /** True once the vendor works on it, so that a queue's cancel comes too late; null where it does not say. */
    readonly isRunning: boolean | null;
    /** The vendor's word, when it is one the adapter does not know. */
    readonly unknownWord?: string;
    /** The vendor asks to be left alone for so long. */
    readonly retryAfterSeconds?: number;
  }
  | {
    readonly status: "completed";
    readonly results: readonly VideoResult[];
    /** Missing where there is none. */
    readonly extras?: readonly VideoExtra[];
    readonly consumption: VideoConsumption;
  }
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
 * Options of a vendor that no caller may set, by their names in small letters without `_` and `-`; the value says what
 * to use instead, or why not, for the error. They stand at any depth. Those that every vendor has in common need not be
 * repeated.
 */
export type RefusedOptions = Readonly<Record<string, string>>;

/**
 * A vendor that makes videos. Knows no caller, no money and no store; every failure is an {@linkcode UpstreamFailure}.
 * What a vendor lacks is null.
 */
export interface VideoUpstream {
  /** In which forms it takes pictures, sounds and videos. */
  readonly mediaForms: MediaForms;
  /**
   * Starts a job. A failure's `accepted` tells whether the vendor can have begun: with `unknown` the job must not be
   * created anywhere else.
   */
  create(order: VideoOrder): Promise<VideoJobHandle>;
  /** Asks how a job stands. */
  poll(job: VideoJobHandle): Promise<VideoProgress>;
  /**
   * Asks for many jobs at once; missing where the vendor cannot be asked so. A job that the answer does not hold is
   * missing in the result, by {@linkcode VideoJobHandle.id}, and is asked for by itself.
   */
  readonly pollMany?: {
    /** How many jobs one question may name. */
    readonly limit: number;
    ask(jobs: readonly VideoJobHandle[]): Promise<ReadonlyMap<string, VideoProgress>>;
  };
  /** Null where the vendor cannot stop a job: the caller gets `cancel_not_supported`. */
  readonly cancel: ((job: VideoJobHandle) => Promise<CancelOutcome>) | null;
  /**
   * Finds a job whose creation was not answered, by a mark of ours that the vendor repeats; null where it repeats none,
   * since a job that only looks alike may be another caller's. Null is also the answer when it was not found.
   *
   * @param createdAfter Unix milliseconds; older jobs are not looked at.
   */
  readonly find: ((order: VideoOrder, createdAfter: number) => Promise<VideoJobHandle | null>) | null;
  /**
   * Opens a result that needs the credential, or whose bytes come in an answer; null where no result ever does.
   */
  readonly open: ((result: VideoResult, job: VideoJobHandle) => Promise<OpenedResult>) | null;
  /**
   * What no caller may set in `provider.options`: what decides length, count, size, sound or tier, and where news is
   * sent.
   */
  readonly refusedOptions?: RefusedOptions;
  /**
   * The first word of a prompt that this vendor would read as an option, such as `--dur`, and that decides what the
   * video costs; null when there is none. Missing where prompts are words alone.
   *
   * @param model The vendor's name of the model.
   */
  readonly optionInPrompt?: (prompt: string, model: string) => string | null;
  /**
   * Names the fields of an order, as the caller wrote them, that this vendor's request cannot hold and that are
   * therefore not sent: `seed`, `generate_audio`. Values of media are not looked at. Missing where everything is sent
   * or refused.
   */
  readonly dropped?: (order: VideoOrder) => readonly string[];
  /**
   * Schemes of addresses of files that the operator's account at this vendor keeps, such as `asset:`. Missing: none.
   */
  readonly ownSchemes?: readonly string[];
  /** Whether a poll of a finished job gives its results new addresses. Default: false. */
  readonly renewsAddresses?: boolean;
  /** For how long the addresses of results work, in milliseconds. Default: 24 hours. */
  readonly resultLifeMs?: number;
}
