/**
 * All of videos and webhooks over a store on disk, on a clock that the benchmark moves. The vendor and the webhook
 * receiver are in the same process, so the figures are the gateway's own work.
 */
import { createAccount } from "../src/money/billing/accounts/account.ts";
import { createMeter } from "../src/money/billing/meter/create_meter.ts";
import { createCatalog } from "../src/vendors/catalog/catalog.ts";
import { readModel } from "../src/vendors/catalog/model.ts";
import { NO_STORED_FILES } from "../tests/support/no_stored_files.ts";
import { openFileDirectory } from "../src/platform/files/directory.ts";
import { systemClock } from "../src/platform/lib/basics/clock.ts";
import { silentLog } from "../src/platform/lib/basics/log.ts";
import { MAX_MONEY } from "../src/platform/lib/basics/money.ts";
import { createCircuitBreaker } from "../src/vendors/routing/circuit_breaker.ts";
import { createJobRunner, type JobRunner } from "../src/platform/store/job_runner.ts";
import { openKvStore } from "../src/platform/store/kv/open_kv_store.ts";
import type { StoreEngine } from "../src/platform/store/engine.ts";
import type { JobStore, Store } from "../src/platform/store/store.ts";
import type { VideoProgress, VideoUpstream } from "../src/vendors/upstreams/contract/video_upstream.ts";
import { fileSweep, taskSweep } from "../src/services/videos/upkeep/retention.ts";
import type { VideoParts } from "../src/services/videos/tasks/video_parts.ts";
import { createVideos, type Videos } from "../src/services/videos/videos.ts";
import { deliverySweep } from "../src/services/webhooks/retention.ts";
import { createWebhooks } from "../src/services/webhooks/webhooks.ts";
import { createMediaWork } from "../src/platform/workers/media_work.ts";
import { joinRunners } from "../src/entry/app/jobs/job_runners.ts";
import { ManualClock } from "../tests/support/manual_clock.ts";

/** The only provider. */
export const PROVIDER = "bench";
/** The caller of all tasks. A single caller is the worst case for lists and for the account's balance. */
export const CALLER = { accountId: "bench", keyId: "bench-key", limits: null } as const;
/** The models of the tasks, in turn. */
export const MODELS = ["bench/video-1", "bench/video-2", "bench/video-3"] as const;

/** A webhook receiver with this word in its address rejects every event. */
export const REJECTING_RECEIVER = "deaf";

/** The address that names resolve to; nothing is ever sent there. */
const RECEIVER = "93.184.216.34";
const RESULT = new Uint8Array(1_024);
const PENDING: VideoProgress = { status: "pending", isRunning: true };

/** Options of an engine. */
export interface FleetEngineOptions {
  /** The folder of the store and the files. */
  readonly folder: string;
  /** The clock's time in Unix milliseconds. */
  readonly at: number;
  /** Polls per second of the provider. Default: as configured. */
  readonly pollsPerSecond?: number;
  /** Whether one request to the vendor polls many jobs. Default false. */
  readonly isListed?: boolean;
  /** A wrapper of the store. Default: none. */
  readonly wrapStore?: (store: JobStore) => JobStore;
}

/** An open engine. */
export interface FleetEngine {
  readonly clock: ManualClock;
  readonly store: StoreEngine;
  readonly videos: Videos;
  readonly vendor: FleetVendor;
  /** One step of each part of the retention, as its job does it. */
  readonly sweeps: (kept: { readonly filesMs: number; readonly tasksMs: number }) => (() => Promise<boolean>)[];
  /** Starts the workers of pending jobs; the poller does the polls. */
  start(): void;
  /** The number of running jobs. */
  running(): number;
  close(): Promise<void>;
}

/** Opens the engine and creates missing files. */
export async function openFleetEngine(options: FleetEngineOptions): Promise<FleetEngine> {
  const {
    folder,
    at,
    pollsPerSecond = 20,
    isListed = false,
    wrapStore: seen = (store) => store,
  } = options;
  const clock = new ManualClock(at);
  const log = silentLog;
  const store = await openKvStore({ path: `${folder}/store.db`, clock, log });
  const media = createMediaWork({ clock: systemClock, log });
  const vendor = new FleetVendor(isListed);
  const post = (url: string) =>
    Promise.resolve({ status: url.includes(REJECTING_RECEIVER) ? 503 : 200, header: () => null, bytes: 0 });
  const egress = { allow: [], own: [], resolve: () => Promise.resolve([RECEIVER]) };
  const webhooks = createWebhooks({ store, clock, log, egress, timeoutMs: 10_000, random: Math.random, post });
  const parts: VideoParts = {
    store: seen(store),
    meter: createMeter({ store, clock, log }),
    clock,
    log,
    catalog: createCatalog(MODELS.map((id) =>
      readModel({
        id,
        video: { modes: ["text2video"], price_per_second: { default: "0.0001" } },
        serves: [{ provider: PROVIDER }],
      })
    )),
    upstreams: new Map([[PROVIDER, vendor]]),
    isProvider: () => true,
    breaker: createCircuitBreaker({ clock }),
    files: openFileDirectory(`${folder}/files`),
    stored: NO_STORED_FILES,
    signingKeys: [{ id: "bench", secret: new Uint8Array(32) }],
    egress,
    baseUrl: () => "https://gateway.example",
    media,
    settings: {
      preauthorize: true,
      deadlineMs: 86_400_000,
      signedUrlMs: 86_400_000,
      polling: { firstMs: 10_000, minMs: 5_000, maxMs: 30_000, perSecond: pollsPerSecond },
      doubtMs: 300_000,
      unknownCreates: "release",
    },
    onTerminal: webhooks.onTerminal,
    onRemoval: webhooks.onRemoval,
    hasPendingDelivery: webhooks.hasPendingDelivery,
    random: Math.random,
  };
  const videos = createVideos(parts, { polling: { requests: 60, perMs: 60_000, burst: 10 }, eventStreams: 100 });
  let runner: JobRunner | null = null;
  return {
    clock,
    store,
    videos,
    vendor,
    sweeps: (
      { filesMs, tasksMs },
    ) => [fileSweep(parts, filesMs), taskSweep(parts, tasksMs), deliverySweep(store, null)],
    start() {
      const { handlers, concurrency } = videos;
      runner = joinRunners([
        createJobRunner({ store, clock, log, handlers, concurrency }),
        webhooks.startJobs(),
      ]);
    },
    running: () => runner?.running ?? 0,
    async close() {
      await runner?.drain(0);
      media.close();
      await store.close();
    },
  };
}

/** Opens an account that can pay for everything. */
export async function openAccount(store: Store): Promise<void> {
  await createAccount(store, { id: CALLER.accountId, balance: MAX_MONEY });
}

/** A vendor that answers at once; its jobs run until they are ended. */
export class FleetVendor implements VideoUpstream {
  readonly mediaForms = { image: ["url"], audio: ["url"], video: ["url"] } as const;
  readonly cancel = null;
  readonly find = null;
  readonly pollMany?: NonNullable<VideoUpstream["pollMany"]>;
  /** The progress of a job by its id. */
  progress: (id: string) => VideoProgress = () => PENDING;
  /** The number of created jobs, of poll requests, and of opened results. */
  readonly counts = { jobs: 0, polls: 0, opened: 0 };

  /** @param isListed Whether one request polls many jobs. */
  constructor(isListed: boolean) {
    if (!isListed) return;
    this.pollMany = {
      limit: 100,
      poll: (jobs) => {
        this.counts.polls++;
        return Promise.resolve(new Map(jobs.map(({ id }) => [id, this.progress(id)])));
      },
    };
  }

  create(): ReturnType<VideoUpstream["create"]> {
    return Promise.resolve({ id: `cgt-20261122-${String(this.counts.jobs++).padStart(12, "0")}`, place: null });
  }

  poll({ id }: { readonly id: string }): Promise<VideoProgress> {
    this.counts.polls++;
    return Promise.resolve(this.progress(id));
  }

  readonly open = (): ReturnType<NonNullable<VideoUpstream["open"]>> => {
    this.counts.opened++;
    return Promise.resolve({ bytes: once() });
  };
}

async function* once(): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  yield await Promise.resolve(RESULT);
}
