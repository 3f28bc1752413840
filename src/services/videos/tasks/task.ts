import { TERMINAL_STATUSES, type TerminalStatus } from "../../webhooks/ended_task.ts";
import type { VideoResolution } from "../../../vendors/catalog/sections/media_sections.ts";
import type { Medium, VideoMode } from "../../../vendors/video_mode.ts";
import type { Money } from "../../../platform/lib/basics/money.ts";
import type {
  VideoExtra,
  VideoJobHandle,
  VideoProgressDetails,
  VideoResult,
} from "../../../vendors/upstreams/contract/video_upstream.ts";

/**
 * A video task, from its creation until its removal. It changes from `pending` to one terminal status, once. That
 * commit checks that the task has not changed since it was read. A commit that loses this race leaves the winner's
 * state unchanged. `stage` is the progress of a pending task:
 *
 *                     ┌── definitely rejected, another candidate or a retry is left
 *                     ▼                            │
 *   create ──→ waiting ──(recorded first)──→ submitting ──(the vendor's id)──→ submitted
 *                 │                            │   ▲                             │
 *                 │                            │   └─ outcome unknown: searched  │ polls
 *                 │                            │      with find(), offered again │
 *                 │                            │      only if definitely absent  │
 *                 ▼                            ▼                                 ▼
 *   ─────────────────────────── one terminal commit, the first one wins ──────────────────────────
 *
 * - `completed`: the vendor has a result that can be fetched. The cost is captured, and mirroring starts.
 * - `failed`: the vendor rejects or fails, no provider accepts it, or the outcome is unknown. The hold is released.
 * - `cancelled`: by the caller, before the submission or at the vendor, or by the vendor. The hold is released.
 * - `expired`: no result within the deadline, or expired at the vendor. The hold is released.
 *
 * The jobs `video_submit` and `video_submit_retry` move a task from `waiting` to `submitted`; the job `video_poll`
 * moves it from there to its end. A caller's DELETE can end it in any stage except during a create call. These jobs are
 * due by the deadline at the latest.
 *
 * A task of unknown outcome fails when the doubt period ends if the vendor has no list, else at the deadline.
 * `billing.unknown_creates` decides whether its estimate is charged.
 *
 * After the terminal commit, `video_mirror` copies results, `video_forget` removes files, and `video_stop` cancels the
 * vendor's job. None of them changes the status.
 */
export interface VideoTask {
  /** A UUID. */
  readonly id: string;
  readonly account: string;
  /** The credential that created the task; only this credential can read it. */
  readonly keyId: string;
  /** Id of the model in the catalog. */
  readonly model: string;
  /** The model by the caller's name, for the task object; missing in records of earlier versions. */
  readonly modelName?: string;
  readonly prompt: string;
  /** The line of a batch that the task is for, for the ledger; missing for all other tasks. */
  readonly line?: TaskLine;
  /** The caller's metadata, for the task object; missing if there is none. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Requested size as `<WIDTH>x<HEIGHT>`; missing if none was given. */
  readonly size?: string;
  /** Request fields that at least one candidate does not support; missing if there are none. */
  readonly dropped?: readonly string[];
  readonly mode: VideoMode;
  readonly status: VideoStatus;
  /** Unix milliseconds, as every `…At` here. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Latest end of the task. */
  readonly deadlineAt: number;
  readonly callbackUrl: string | null;
  /** The requested provider; null for any. */
  readonly pin: string | null;
  /** The providers that the key was permitted to use when it created the task. Absent: all. */
  readonly providers?: readonly string[];
  /** What to generate; null once the task is terminal. */
  readonly order: TaskOrder | null;
  /** Names in the file store of the media of the order. */
  readonly inputs: readonly string[];
  readonly stage: TaskStage;
  /** Progress last reported by the vendor; missing before the first report. */
  readonly progress?: VideoProgressDetails;
  /** Number of create calls; missing in records of the first version. */
  readonly offers?: number;
  /** Time of the first create call; missing before it and in records of earlier versions. */
  readonly firstOfferedAt?: number;
  /** The price at creation. Later catalog changes do not affect the task. */
  readonly price: TaskPrice;
  /** The vendor's results; empty unless completed. */
  readonly results: readonly VideoResult[];
  /** Names in the file store of the copies of the results, in their order; the copies may not exist yet. */
  readonly mirrors: readonly string[];
  /** Additional files that the vendor generated; missing if there are none. */
  readonly extras?: readonly VideoExtra[];
  /** Names in the file store of the copies of the extras, in their order; missing if there are none. */
  readonly extraMirrors?: readonly string[];
  /** True from completion until the copies exist or copying was abandoned. */
  readonly mirroring: boolean;
  /** When the vendor last issued new addresses for the results; missing if it never did. */
  readonly renewedAt?: number;
  /** When the copies were complete; missing before, in records of earlier versions, and after their removal. */
  readonly copiedAt?: number | undefined;
  /** The latest request to copy the results again; missing if there was none. */
  readonly recopy?: TaskRecopy;
  /** Null until completed. */
  readonly usage: TaskUsage | null;
  /** Null unless failed. */
  readonly error: TaskError | null;
}

/** A line of a batch. */
export interface TaskLine {
  /** The id of the batch. */
  readonly batch: string;
  /** The caller's id of the line. */
  readonly customId: string;
}

/** Source: docs/api/videos.md#states. */
export type VideoStatus = "pending" | TerminalStatus;

/** Every status; `pending`, which precedes the others, comes first. */
export const VIDEO_STATUSES: readonly [VideoStatus, ...VideoStatus[]] = ["pending", ...TERMINAL_STATUSES];

/** The caller's order in terms of the model. */
export interface TaskOrder {
  /** As {@linkcode VideoOrder.durationSeconds}: -1 or null if the vendor decides. */
  readonly durationSeconds: number | null;
  readonly resolution: VideoResolution | null;
  readonly aspectRatio: string | null;
  readonly size: { readonly width: number; readonly height: number } | null;
  readonly firstFrame: TaskMedia | null;
  readonly lastFrame: TaskMedia | null;
  readonly references: readonly TaskMedia[];
  readonly generateAudio: boolean | null;
  readonly seed: number | null;
  /** Options for each provider, by its name; missing in records of earlier versions. */
  readonly optionsByProvider?: ProviderOptions;
  /** Only in records of earlier versions: options for every provider. */
  readonly options?: Readonly<Record<string, unknown>>;
}

/** Options in addition to the request's own fields, by provider name. */
export type ProviderOptions = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** An image, audio or video of an order: at the caller's address, or in the file store. */
export type TaskMedia =
  | { readonly medium: Medium; readonly at: "url"; readonly url: string }
  | {
    readonly medium: Medium;
    readonly at: "file";
    readonly name: string;
    readonly mediaType: string;
    readonly bytes: number;
  };

/** Progress of a pending task; see {@linkcode VideoTask}. */
export type TaskStage =
  /** No vendor can have started. */
  | { readonly step: "waiting" }
  /** This provider may have started. The stage is stored before the call, so a crash never causes a second call. */
  | {
    readonly step: "submitting";
    readonly provider: string;
    readonly model: string;
    readonly since: number;
    /** When the call was known to have ended with an unknown outcome; missing before. */
    readonly unknownSince?: number;
  }
  /** The vendor has the task. */
  | {
    readonly step: "submitted";
    readonly provider: string;
    readonly model: string;
    readonly job: VideoJobHandle;
    readonly since: number;
  };

/** The price of a task, fixed at its creation. */
export interface TaskPrice {
  /** One second, in units of 10^-18 USD. */
  readonly perSecond: bigint;
  /** The requested or default duration; the maximum if the vendor decides. */
  readonly seconds: number;
  /**
   * Maximum plausible duration reported by a vendor; missing in records of earlier versions, for which it is `seconds`.
   */
  readonly mostSeconds?: number;
  /** True if the vendor decides the duration. */
  readonly isOpen?: boolean;
  /** The price of those seconds. */
  readonly estimate: Money;
  /** Whether the estimate was held; otherwise the cost is charged at the end. */
  readonly held: boolean;
}

/** Consumption and cost of a completed task. */
export interface TaskUsage {
  readonly seconds: number;
  readonly cost: Money;
}

/** A run that replaces copies of results. */
export interface TaskRecopy {
  /** From 1. Jobs of earlier runs do nothing. */
  readonly run: number;
  /** Number of copies that this run has made, in their order. */
  readonly done: number;
}

/** The failure of a task, as returned to its caller. */
export interface TaskError {
  readonly code: string;
  /** Contains no secrets; at most 500 characters. */
  readonly message: string;
}

/** Consumption that a vendor reports for a completed video; null or missing if it reports none. */
export interface ReportedConsumption {
  /** Duration of the video. */
  readonly seconds: number | null;
  /** The vendor's charge, a decimal of USD. */
  readonly costUsd?: string | null;
}

/** The end of a task. */
export type TaskEnd =
  | ReportedConsumption & {
    readonly status: "completed";
    readonly results: readonly VideoResult[];
    /** Additional files. Default: none. */
    readonly extras?: readonly VideoExtra[];
  }
  | { readonly status: "failed"; readonly error: TaskError; readonly isCharged?: boolean }
  /**
   * `isCharged`: the estimate is charged, because the vendor may have started and the operator configured this.
   * Default: false.
   */
  | { readonly status: "cancelled"; readonly isCharged?: boolean }
  /** `stopsVendor`: the vendor's job is still running and is cancelled. Default: false. */
  | { readonly status: "expired"; readonly stopsVendor?: boolean };
