import type { LedgerMeter, Meter } from "../../../money/billing/meter/meter.ts";
import type { ReadableFiles } from "../../stored_files/file_reference.ts";
import type { EndedTask } from "../../webhooks/ended_task.ts";
import type { DatedCatalog } from "../../../vendors/catalog/catalog.ts";
import type { FileStore } from "../../../platform/files/files.ts";
import type { SigningKeys } from "../../../platform/files/signed_url.ts";
import type { Clock } from "../../../platform/lib/basics/clock.ts";
import type { Log } from "../../../platform/lib/basics/log.ts";
import type { MemoryBudget } from "../../../platform/lib/process/memory_budget.ts";
import type { EgressPolicy } from "../../../platform/net/target.ts";
import type { AttemptSlots } from "../../../vendors/routing/attempt_slots.ts";
import type { CircuitBreaker } from "../../../vendors/routing/circuit_breaker.ts";
import type { Commit, JobStore } from "../../../platform/store/store.ts";
import type { WriteGuard } from "../../../platform/store/write_health.ts";
import type { Allowances } from "../../../vendors/upstreams/contract/allowances.ts";
import type { VideoUpstream } from "../../../vendors/upstreams/contract/video_upstream.ts";
import type { MediaWork } from "../../../platform/workers/media_work.ts";
import type { PollSchedule } from "./poll_schedule.ts";

/** Adds follow-up work of a task's end to its terminal commit, such as a webhook's delivery. */
export type TerminalHook = (commit: Commit, ended: EndedTask) => Commit;

/** Removes the completed follow-up work of a task's end; false if it is pending. */
export type RemovalHook = (taskId: string) => Promise<boolean>;

/** The operator's settings for videos. */
export interface VideoSettings {
  /** Whether the estimate is held at creation. */
  readonly preauthorize: boolean;
  /** Maximum time that a task may be pending. */
  readonly deadlineMs: number;
  /** Validity of a signed address. */
  readonly signedUrlMs: number;
  readonly polling: PollSchedule;
  /** Whether vendors get a callback address, if they can reach it. Default: true. */
  readonly vendorCallbacks?: boolean;
  /**
   * Doubt period: after it, a create without a response that the vendor's list lacks was never made. It is longer than
   * any create call takes.
   */
  readonly doubtMs: number;
  /** Whether the hold of a task that a vendor may have started and never confirmed is released or captured. */
  readonly unknownCreates: "release" | "capture";
}

/** Dependencies of the videos. */
export interface VideoParts {
  readonly store: JobStore;
  /** Checked before a create. Default: no check. */
  readonly writeGuard?: WriteGuard;
  /** Reservations of open requests in memory; a hold must fit beside them. */
  readonly meter: Meter & Pick<LedgerMeter, "reserve">;
  readonly clock: Clock;
  readonly log: Log;
  readonly catalog: DatedCatalog;
  /** Providers that generate videos, by name. */
  readonly upstreams: ReadonlyMap<string, VideoUpstream>;
  /** Assets of a provider's account that callers may use. Default: none. */
  readonly allowancesOf?: (provider: string) => Allowances;
  /** Whether a name is a configured provider. */
  readonly isProvider: (name: string) => boolean;
  readonly breaker: CircuitBreaker;
  /** Limits the create calls at providers. Default: no limits. */
  readonly slots?: AttemptSlots;
  readonly files: FileStore;
  /** The files that callers have stored, which references can name. */
  readonly stored: ReadableFiles;
  readonly signingKeys: SigningKeys;
  /** Limits the memory for media of jobs; requests have their own leases. Default: no limit. */
  readonly memory?: MemoryBudget;
  /** Policy for addresses from callers and vendors. */
  readonly egress: EgressPolicy;
  /** Whether events can be sent to an address of the gateway itself. Default: to none. */
  readonly isTestReceiver?: (url: string) => boolean;
  /** Base URL of the gateway's own addresses; known once it listens. */
  readonly baseUrl: () => string;
  readonly media: MediaWork;
  readonly settings: VideoSettings;
  readonly onTerminal: TerminalHook;
  readonly onRemoval: RemovalHook;
  /** Whether the follow-up work of a task's end is pending. */
  readonly hasPendingDelivery: (taskId: string) => Promise<boolean>;
  /** Returns a uniform random number in [0, 1). */
  readonly random: () => number;
}
