import type { Meter } from "../billing/meter.ts";
import type { EndedTask } from "../calls/ended_task.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { FileStore } from "../files/files.ts";
import type { SigningKeys } from "../files/signed_url.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { MemoryBudget } from "../lib/memory_budget.ts";
import type { EgressPolicy } from "../net/target.ts";
import type { CircuitBreaker } from "../routing/circuit_breaker.ts";
import type { Commit, Store } from "../store/store.ts";
import type { WriteGuard } from "../store/write_health.ts";
import type { Allowances } from "../upstreams/allowances.ts";
import type { VideoUpstream } from "../upstreams/video_upstream.ts";
import type { MediaWork } from "../workers/media_work.ts";
import type { PollSchedule } from "./polling/poll_schedule.ts";

/** Joins what else a task's end owes to its terminal commit, such as a webhook's delivery. */
export type TerminalHook = (commit: Commit, ended: EndedTask) => Commit;

/** Removes what a task's end owed, once that was done; false while it is still owed. */
export type RemovalHook = (taskId: string) => Promise<boolean>;

/** What an operator decides about videos. */
export interface VideoSettings {
  /** Whether the estimate is held at creation. */
  readonly preauthorize: boolean;
  /** How long a task may be pending. */
  readonly deadlineMs: number;
  /** How long a signed address works. */
  readonly signedUrlMs: number;
  readonly polling: PollSchedule;
  /** Whether vendors are given an address to post news to, where they can reach it. Default true. */
  readonly vendorCallbacks?: boolean;
  /**
   * After that a creation that was not answered and that the vendor, which can be asked for it, does not have was
   * never made. Longer than any creation takes.
   */
  readonly doubtMs: number;
  /** What becomes of the money of a task that a vendor may have begun and never confirmed. */
  readonly unknownCreates: "release" | "capture";
}

/** What videos are made with. */
export interface VideoParts {
  readonly store: Store;
  /** Asked before anything is done for a create. Default: nothing is asked. */
  readonly writeGuard?: WriteGuard;
  /** Of the calls that reserve money in memory, beside which a hold must fit. */
  readonly meter: Pick<Meter, "admit" | "invalidate">;
  readonly clock: Clock;
  readonly log: Log;
  readonly catalog: Catalog;
  /** Providers that make videos, by name. */
  readonly upstreams: ReadonlyMap<string, VideoUpstream>;
  /** What callers may use of a provider's own account beside what is theirs. Default: nothing. */
  readonly allowancesOf?: (provider: string) => Allowances;
  /** Whether a name is that of any configured provider. */
  readonly isProvider: (name: string) => boolean;
  readonly breaker: CircuitBreaker;
  readonly files: FileStore;
  readonly signingKeys: SigningKeys;
  /** What pays for the media of jobs; requests bring their own leases. Default: nobody counts. */
  readonly memory?: MemoryBudget;
  /** For addresses that callers and vendors name. */
  readonly egress: EgressPolicy;
  /** What the gateway's own addresses start with; known once it listens. */
  readonly baseUrl: () => string;
  readonly media: MediaWork;
  readonly settings: VideoSettings;
  readonly onTerminal: TerminalHook;
  readonly onRemoval: RemovalHook;
  /** Whether what a task's end owed is still to be done. */
  readonly isOwed: (taskId: string) => Promise<boolean>;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}
