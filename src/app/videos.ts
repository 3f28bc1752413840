import type { Authenticate } from "../billing/authenticate.ts";
import type { Meter } from "../billing/meter.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Config } from "../config/config.ts";
import { openFileDirectory } from "../files/directory.ts";
import { DiskQuota, type FilesUsage } from "../files/quota.ts";
import type { Route } from "../http/inbound.ts";
import { MAX_MEDIA_REQUEST_VALUES } from "../http/json_body.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { MemoryBudget } from "../lib/memory_budget.ts";
import type { EgressPolicy } from "../net/target.ts";
import { fileRoutes } from "../protocols/default/files.ts";
import { videoCallbackRoutes } from "../protocols/default/video_callbacks.ts";
import { defaultVideoRoutes } from "../protocols/default/videos.ts";
import type { CircuitBreaker } from "../routing/circuit_breaker.ts";
import { joinRunners } from "./job_runners.ts";
import type { Sweep } from "./retention.ts";
import { freeSpaceAt } from "../store/free_space.ts";
import { createJobRunner, type JobRunner } from "../store/job_runner.ts";
import type { StoreEngine } from "../store/engine.ts";
import { NO_ALLOWANCES } from "../upstreams/allowances.ts";
import type { Provider } from "../upstreams/provider.ts";
import type { MediaWork } from "../workers/media_work.ts";
import { isFileKept } from "../videos/create/inputs.ts";
import { enterOldTasks } from "../videos/tasks/records.ts";
import { openSigningKeys, type SigningKeyRing } from "../videos/results/signing_keys.ts";
import { fileSweep, taskSweep } from "../videos/tasks/retention.ts";
import type { RemovalHook, TerminalHook, VideoParts } from "../videos/video_parts.ts";
import { createVideos, type Videos } from "../videos/videos.ts";

/** What videos share with the rest of an app. */
export interface VideoEngineParts {
  readonly config: Config;
  readonly store: StoreEngine;
  readonly meter: Meter;
  readonly catalog: Catalog;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly breaker: CircuitBreaker;
  readonly authenticate: Authenticate;
  readonly egress: EgressPolicy;
  readonly media: MediaWork;
  readonly memory: MemoryBudget;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  /** What the gateway's own addresses start with; asked for once it listens. */
  readonly baseUrl: () => string;
  /** What else a task's end owes. Default nothing. */
  readonly onTerminal?: TerminalHook;
  /** Removes what a task's end owed. Default: there is nothing. */
  readonly onRemoval?: RemovalHook;
  /** Whether that is still to be done. Default: it never is. */
  readonly isOwed?: VideoParts["isOwed"];
}

/** The video endpoints, and the jobs behind them. */
export interface VideoEngine {
  readonly routes: readonly Route[];
  /** For endpoints of a task that others have. */
  readonly videos: Pick<Videos, "read" | "endEvents">;
  /** What addresses of results are signed with. */
  readonly signingKeys: SigningKeyRing;
  /** What results take up on disk. */
  readonly filesUsage: () => FilesUsage;
  /** What removes tasks and files that were kept for long enough. */
  readonly sweeps: readonly Sweep[];
  /** Begins to run jobs; called once the gateway knows its address. */
  startJobs(): JobRunner;
}

/** Builds videos. Files that an earlier process left half-written or without a task are removed first. */
export async function videoEngine(parts: VideoEngineParts): Promise<VideoEngine> {
  const { config, store, providers, authenticate, clock, log } = parts;
  const { limits, billing } = config;
  const quota = quotaOf(config, log);
  const files = openFileDirectory(config.files, quota);
  await files.removeLeftovers((name) => isFileKept(store, name));
  await enterOldTasks(store);
  const signingKeys = await openSigningKeys(store);
  const making = [...providers.values()].flatMap(({ name, videos }) => videos ? [[name, videos] as const] : []);
  const videoParts: VideoParts = {
    ...parts,
    writeGuard: store.writeGuard,
    upstreams: new Map(making),
    allowancesOf: (name) => providers.get(name)?.allows ?? NO_ALLOWANCES,
    isProvider: (name) => providers.has(name),
    files,
    signingKeys: signingKeys.keys,
    settings: {
      preauthorize: billing.preauthorize,
      unknownCreates: billing.unknownCreates,
      deadlineMs: limits.videoDeadlineMs,
      signedUrlMs: limits.signedUrlMs,
      polling: limits.vendorPolling,
      vendorCallbacks: config.server.vendorCallbacks,
      doubtMs: limits.videoDoubtMs,
    },
    onTerminal: parts.onTerminal ?? ((commit) => commit),
    onRemoval: parts.onRemoval ?? (() => Promise.resolve(true)),
    isOwed: parts.isOwed ?? (() => Promise.resolve(false)),
  };
  const videos = createVideos(videoParts, { polling: limits.videoPolling, eventStreams: limits.videoEventStreams });
  const bodyLimits = {
    capBytes: limits.videoBodyBytes,
    idleMs: limits.bodyIdleMs,
    maxValues: MAX_MEDIA_REQUEST_VALUES,
  };
  return {
    routes: [
      ...defaultVideoRoutes({ videos, authenticate, bodyLimits }),
      ...videoCallbackRoutes({ videos, bodyIdleMs: limits.bodyIdleMs }),
      ...fileRoutes({
        files,
        signingKeys: signingKeys.keys,
        now: () => store.now(),
        isOwned: videos.isOwned,
        streamResult: videos.streamResult,
      }),
    ],
    videos,
    signingKeys,
    filesUsage: () => quota.usage,
    sweeps: [fileSweep(videoParts, config.retention.filesMs), taskSweep(videoParts, config.retention.tasksMs)],
    startJobs() {
      const { concurrency, poller, handlers: { video_mirror, ...handlers } } = videos;
      const options = { store, clock, log, concurrency };
      return joinRunners([
        createJobRunner({ ...options, handlers }),
        createJobRunner({ ...options, handlers: { video_mirror }, timeoutMs: COPY_JOB_MS }),
        poller.start(),
      ]);
    },
  };
}

/** All copies of one task, of which one may be slow. */
const COPY_JOB_MS = 3 * 3_600_000;

/** Results stop well before the space that paid work needs. */
function quotaOf({ files, limits }: Config, log: Log): DiskQuota {
  const { filesQuotaBytes: quotaBytes, minFreeDiskBytes } = limits;
  return new DiskQuota({ quotaBytes, freeBytes: freeSpaceAt([files]), spareBytes: 2 * minFreeDiskBytes, log });
}
