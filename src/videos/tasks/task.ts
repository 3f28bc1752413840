import { TERMINAL_STATUSES, type TerminalStatus } from "../../calls/ended_task.ts";
import type { VideoResolution } from "../../catalog/media_sections.ts";
import type { Medium, VideoMode } from "../../lib/video_mode.ts";
import type { Money } from "../../lib/money.ts";
import type { VideoExtra, VideoJobHandle, VideoProgressDetails, VideoResult } from "../../upstreams/video_upstream.ts";

/**
 * A video task, from its creation to long after its end. `pending` goes to one terminal status, once, by one commit
 * that checks that the task is still as it was read; whoever loses that race reads the winner's state. `stage`
 * tells how far a pending task is:
 *
 *                     ┌── refused for certain, another candidate or a later try is left
 *                     ▼                            │
 *   create ──→ waiting ──(recorded first)──→ submitting ──(the vendor's id)──→ submitted
 *                 │                            │   ▲                             │
 *                 │                            │   └─ outcome unknown: looked for │ polls
 *                 │                            │      with find(), offered again  │
 *                 │                            │      only once surely absent     │
 *                 ▼                            ▼                                  ▼
 *   ────────────────────────── one terminal commit, whoever comes first ─────────────────────────
 *   completed   the vendor has a result that can be fetched: cost captured, mirroring begins
 *   failed      the vendor refuses or fails, none can take it, or its outcome is unknown: hold released
 *   cancelled   the caller asked and the vendor agrees or never heard of it; or the vendor cancelled it: hold released
 *   expired     no result within the deadline, or the vendor let it expire: hold released
 *
 * Who moves it: the jobs `video_submit` and `video_submit_retry` from `waiting` to `submitted`, the job `video_poll`
 * from there on, a caller's DELETE from anywhere but a call under way. A task of unknown outcome fails when the doubt
 * ends where the vendor has no list, else at the deadline; an operator may have its money taken
 * (`billing.unknown_creates`). The jobs come back by the deadline at the latest. After a terminal commit `video_mirror`
 * copies results and `video_forget` removes files, and `video_stop` tells a vendor to stop what nobody waits for; none
 * changes the status.
 */
export interface VideoTask {
  /** A UUID. */
  readonly id: string;
  readonly account: string;
  /** The credential that made it, the only one that sees it. */
  readonly keyId: string;
  /** The catalog's id of the model. */
  readonly model: string;
  /** The model as the caller named it, which the task object repeats; missing in records of earlier versions. */
  readonly modelName?: string;
  readonly prompt: string;
  /** The caller's own pairs, which the task object repeats; missing when there are none. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** `<WIDTH>x<HEIGHT>` as the caller ordered it; missing when no size was given. */
  readonly size?: string;
  /** Fields of the request that not every vendor is told; missing where there are none. */
  readonly dropped?: readonly string[];
  readonly mode: VideoMode;
  readonly status: VideoStatus;
  /** Unix milliseconds, as every `…At` here. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Until when it may be pending. */
  readonly deadlineAt: number;
  readonly callbackUrl: string | null;
  /** The provider that the caller named; null for any. */
  readonly pin: string | null;
  /** What to make; null once the task is terminal. */
  readonly order: TaskOrder | null;
  /** Names in the file store of what the order refers to. */
  readonly inputs: readonly string[];
  readonly stage: TaskStage;
  /** What the vendor told last of how far it is; missing until it tells. */
  readonly progress?: VideoProgressDetails;
  /** How often a provider was asked to make it; missing in records of the first version. */
  readonly offers?: number;
  /** When the first of them was; missing before, and in records of earlier versions. */
  readonly firstOfferedAt?: number;
  /** Of the day of creation: what the task costs does not change with the catalog. */
  readonly price: TaskPrice;
  /** The vendor's results; empty unless completed. */
  readonly results: readonly VideoResult[];
  /** Names in the file store of the copies of the results, in their order: there, or on their way. */
  readonly mirrors: readonly string[];
  /** What the vendor made beside the results; missing when it made nothing else. */
  readonly extras?: readonly VideoExtra[];
  /** Names in the file store of the copies of the extras, in their order; missing when there are none. */
  readonly extraMirrors?: readonly string[];
  /** True from the completion until the copies are there or were given up. */
  readonly mirroring: boolean;
  /** When the vendor last gave the results new addresses; missing when it never did. */
  readonly renewedAt?: number;
  /** When the copies were there; missing before, in records of earlier versions, and once they were removed. */
  readonly copiedAt?: number | undefined;
  /** The last time that somebody had everything copied anew; missing when nobody had. */
  readonly recopy?: TaskRecopy;
  /** Null until completed. */
  readonly usage: TaskUsage | null;
  /** Null unless failed. */
  readonly error: TaskError | null;
}

/** Source: docs/api/videos.md#states. */
export type VideoStatus = "pending" | TerminalStatus;

/** Every status, `pending` first: the one that others follow. */
export const VIDEO_STATUSES: readonly [VideoStatus, ...VideoStatus[]] = ["pending", ...TERMINAL_STATUSES];

/** What the caller ordered, in the model's terms. */
export interface TaskOrder {
  /** As {@linkcode VideoOrder.durationSeconds}: -1 or null where the vendor decides. */
  readonly durationSeconds: number | null;
  readonly resolution: VideoResolution | null;
  readonly aspectRatio: string | null;
  readonly size: { readonly width: number; readonly height: number } | null;
  readonly firstFrame: TaskMedia | null;
  readonly lastFrame: TaskMedia | null;
  readonly references: readonly TaskMedia[];
  readonly generateAudio: boolean | null;
  readonly seed: number | null;
  /** What each provider alone is sent, by its name; missing in records of earlier versions. */
  readonly optionsByProvider?: ProviderOptions;
  /** Of records of earlier versions: what every provider is sent. */
  readonly options?: Readonly<Record<string, unknown>>;
}

/** What providers are sent beside the request's own fields, by their names. */
export type ProviderOptions = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** A picture, sound or video that an order refers to: at the caller's address, or in the file store. */
export type TaskMedia =
  | { readonly medium: Medium; readonly at: "url"; readonly url: string }
  | {
    readonly medium: Medium;
    readonly at: "file";
    readonly name: string;
    readonly mediaType: string;
    readonly bytes: number;
  };

/** How far a pending task got; see {@linkcode VideoTask}. */
export type TaskStage =
  /** No vendor can have begun. */
  | { readonly step: "waiting" }
  /** This provider may have begun: written before it is called, so that a crash never leads to a second call. */
  | {
    readonly step: "submitting";
    readonly provider: string;
    readonly model: string;
    readonly since: number;
    /** When the call was known to have ended without saying whether the vendor began; missing before. */
    readonly unknownSince?: number;
  }
  /** The vendor has it. */
  | {
    readonly step: "submitted";
    readonly provider: string;
    readonly model: string;
    readonly job: VideoJobHandle;
    readonly since: number;
  };

/** What a task costs, fixed when it was made. */
export interface TaskPrice {
  /** One second, in units of 10^-18 USD. */
  readonly perSecond: bigint;
  /** What was asked for, or the model's default; where the vendor decides, the longest. */
  readonly seconds: number;
  /**
   * What a vendor is believed to have made at most; missing in records of earlier versions, which believe `seconds`.
   */
  readonly mostSeconds?: number;
  /** True where the vendor decides how long the video is. */
  readonly isOpen?: boolean;
  /** What those seconds cost. */
  readonly estimate: Money;
  /** Whether the estimate was set aside; else the cost is charged at the end. */
  readonly held: boolean;
}

/** What a completed task consumed and cost. */
export interface TaskUsage {
  readonly seconds: number;
  readonly cost: Money;
}

/** Copies that are made in place of those that may be there. */
export interface TaskRecopy {
  /** From 1. A job of an older run has nothing to do any more. */
  readonly run: number;
  /** How many of the copies, in their order, this run has made. */
  readonly done: number;
}

/** Why a task failed, as its caller is told. */
export interface TaskError {
  readonly code: string;
  /** Free of secrets; at most 500 characters. */
  readonly message: string;
}

/** What a vendor reports of a finished video; null or missing where it does not. */
export interface ReportedConsumption {
  /** How long it is. */
  readonly seconds: number | null;
  /** What the vendor charged, a decimal of USD. */
  readonly costUsd?: string | null;
}

/** How a task ends. */
export type TaskEnd =
  | ReportedConsumption & {
    readonly status: "completed";
    readonly results: readonly VideoResult[];
    /** What was made beside them. Default: nothing. */
    readonly extras?: readonly VideoExtra[];
  }
  | { readonly status: "failed"; readonly error: TaskError; readonly isCharged?: boolean }
  /**
   * `isCharged`: the estimate is taken, as the vendor may have begun and the operator wants it paid. Default: false.
   */
  | { readonly status: "cancelled"; readonly isCharged?: boolean }
  /** `stopsVendor`: the vendor is at work still and is told to stop. Default: false. */
  | { readonly status: "expired"; readonly stopsVendor?: boolean };
