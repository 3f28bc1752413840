import { createMediaWork } from "../../src/platform/workers/media_work.ts";
import { systemClock } from "../../src/platform/lib/basics/clock.ts";
import { createMeter } from "../../src/money/billing/meter/create_meter.ts";
import type { Meter } from "../../src/money/billing/meter/meter.ts";
import { createCatalog } from "../../src/vendors/catalog/catalog.ts";
import { readModel } from "../../src/vendors/catalog/model.ts";
import { NO_STORED_FILES } from "../support/no_stored_files.ts";
import type { FileStore } from "../../src/platform/files/files.ts";
import { type Log, silentLog } from "../../src/platform/lib/basics/log.ts";
import { readMoney } from "../../src/platform/lib/basics/money.ts";
import { createCircuitBreaker } from "../../src/vendors/routing/circuit_breaker.ts";
import type { CredentialMonitor } from "../../src/vendors/routing/credential_monitor.ts";
import type { StoreEngine } from "../../src/platform/store/engine.ts";
import { openMemoryStore } from "../support/memory_store.ts";
import type { Job, JobStore } from "../../src/platform/store/store.ts";
import { UpstreamFailure } from "../../src/vendors/upstreams/call/failure.ts";
import type { VideoOrder, VideoProgress, VideoUpstream } from "../../src/vendors/upstreams/contract/video_upstream.ts";
import type { VideoJobKind } from "../../src/services/videos/tasks/records.ts";
import type { TaskObject } from "../../src/services/videos/tasks/task_object.ts";
import type { VideoParts } from "../../src/services/videos/tasks/video_parts.ts";
import { createVideos, type VideoHandlerKind, type Videos } from "../../src/services/videos/videos.ts";
import { mergeCommits } from "../../src/money/billing/accounts/records.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { storeTimeOf } from "../../src/platform/store/store_time.ts";

export const CALLER = { keyId: "key-1", accountId: "demo", limits: null, receivedAt: 0 };
export const BODY = { model: "sandbox/video", prompt: "A lighthouse" };
export const LIMITS = { polling: { requests: 60, perMs: 60_000, burst: 10 }, eventStreams: 3 };
export const DEADLINE_MS = 3_600_000;
/** USD 0.50, the cost of {@linkcode BODY}. */
export const COST = readMoney("0.50");

/** A vendor in memory. Its jobs end as `progress` sets. */
export class StageVendor implements VideoUpstream {
  readonly mediaForms = { image: ["url"], audio: ["url"], video: ["url"] } as const;
  /** Accepted creates by the gateway's task id. */
  readonly accepted = new Map<string, string[]>();
  progress: (id: string) => VideoProgress = () => ({ status: "pending", isRunning: true });
  /** Runs before and after a create is accepted, to interrupt it on either side. */
  before: (order: VideoOrder) => void | Promise<void> = () => {};
  after: (order: VideoOrder) => void | Promise<void> = () => {};
  cancel: VideoUpstream["cancel"] = () => Promise.resolve("cancelled");
  find: VideoUpstream["find"] = (order) => {
    const id = this.accepted.get(order.taskId)?.[0];
    return Promise.resolve(id === undefined ? null : { id, place: null });
  };
  open: VideoUpstream["open"] = null;
  renewsUrls = false;
  resultLifetimeMs?: number;

  async create(order: VideoOrder) {
    await this.before(order);
    const ids = this.accepted.get(order.taskId) ?? [];
    const id = `job-${order.taskId}-${ids.length}`;
    this.accepted.set(order.taskId, [...ids, id]);
    await this.after(order);
    return { id, place: null };
  }

  poll(job: { readonly id: string }): Promise<VideoProgress> {
    return Promise.resolve(this.progress(job.id));
  }
}

/** A completed job. */
export const DONE: VideoProgress = {
  status: "completed",
  results: [{ url: "https://vendor.example/video.mp4", needsCredential: false }],
  consumption: { seconds: null, costUsd: null },
};

export function failure(accepted: "no" | "unknown", kind: UpstreamFailure["kind"] = "unavailable"): UpstreamFailure {
  return new UpstreamFailure("vendor", kind, "the vendor failed", { status: null, accepted });
}

/** The video engine with one vendor, on a manual clock. */
export interface Stage {
  readonly clock: ManualClock;
  readonly store: StoreEngine;
  readonly meter: Meter;
  readonly vendor: StageVendor;
  readonly second: StageVendor;
  readonly videos: Videos;
  /** Dependencies of `videos`, for engines with other ones. */
  readonly parts: VideoParts;
  readonly events: readonly { readonly taskId: string; readonly status: string }[];
  create(body?: Record<string, unknown>): Promise<string>;
  read(id: string): Promise<TaskObject>;
  /** Runs every due job of these kinds, as a runner does. Returns the number. */
  runDue(kinds?: readonly VideoJobKind[]): Promise<number>;
  /** The same engine over another store, as in a later process. */
  reopen(store: JobStore): Videos;
}

const noFiles: FileStore = {
  write: () => Promise.resolve(0),
  find: () => Promise.resolve(null),
  remove: () => Promise.resolve(),
  removeLeftovers: () => Promise.resolve(),
};

/** Opens a stage with 100 USD on the account. Events are counted in `onTerminal`, in the terminal commit. */
export async function openStage(log: Log = silentLog, credentials?: CredentialMonitor): Promise<Stage> {
  const clock = new ManualClock();
  const store = await openMemoryStore({ clock });
  await store.commit(null, {
    changeBalances: [{ account: "demo", available: readMoney("100"), held: 0n }],
    ledgerEntries: [{
      account: "demo",
      operation: "credit",
      reference: "start",
      available: readMoney("100"),
      held: 0n,
    }],
  });
  const [vendor, second] = [new StageVendor(), new StageVendor()];
  const events: { taskId: string; status: string }[] = [];
  const model = readModel({
    id: "sandbox/video",
    video: { modes: ["text2video"], price_per_second: { default: "0.10" } },
    serves: [{ provider: "vendor", weight: 1 }, { provider: "second", weight: 0 }],
  });
  const meter = createMeter({ store, clock, log });
  const partsOf = (over: JobStore): VideoParts => ({
    store: over,
    meter: over === store ? meter : createMeter({ store: over, clock, log }),
    clock,
    log,
    catalog: createCatalog([model]),
    upstreams: new Map([["vendor", vendor], ["second", second]]),
    isProvider: () => true,
    breaker: createCircuitBreaker({ clock, ...(credentials && { credentials }) }),
    files: noFiles,
    stored: NO_STORED_FILES,
    signingKeys: [{ id: "one", secret: new Uint8Array(32) }],
    egress: { allow: [], own: [] },
    media: createMediaWork({ clock: systemClock, log: silentLog }),
    baseUrl: () => "https://gateway.example",
    settings: {
      preauthorize: true,
      deadlineMs: DEADLINE_MS,
      signedUrlMs: 60_000,
      polling: { firstMs: 10_000, minMs: 5_000, maxMs: 30_000, perSecond: 1_000 },
      doubtMs: 300_000,
      unknownCreates: "release",
    },
    onRemoval: () => Promise.resolve(true),
    hasPendingDelivery: () => Promise.resolve(false),
    onTerminal(commit, { taskId, status }) {
      events.push({ taskId, status });
      return mergeCommits(commit, { set: [{ key: ["event", taskId, status], value: true }] });
    },
    random: () => 0.5,
  });
  const reopen = (over: JobStore) => createVideos(partsOf(over), LIMITS);
  const parts = partsOf(store);
  const videos = createVideos(parts, LIMITS);
  return {
    clock,
    parts,
    store,
    meter,
    vendor,
    second,
    videos,
    events,
    reopen,
    create: (body = {}) => createWith(videos, body),
    read: (id) => videos.read(CALLER.keyId, id),
    runDue: (kinds) => runDue(store, videos, kinds),
  };
}

/** Creates a task through an engine. */
export async function createWith(videos: Videos, body: Record<string, unknown> = {}): Promise<string> {
  const call = { ...CALLER, body: { ...BODY, ...body }, key: null };
  return (await videos.create(call)).taskId;
}

/** Runs every due job once; a failed one is rescheduled, as by the runner. */
export async function runDue(
  store: JobStore,
  videos: Videos,
  kinds: readonly VideoJobKind[] = ["video_submit", "video_submit_retry", "video_poll", "video_stop"],
): Promise<number> {
  const jobs = await store.claim(kinds.filter((kind) => kind !== "video_poll"), 100, 30_000);
  const polled = kinds.includes("video_poll") ? videos.poller.pollDue() : 0;
  await Promise.all(jobs.map((job) => run(store, videos, job)));
  return jobs.length + await polled;
}

async function run(store: JobStore, videos: Videos, job: Job): Promise<void> {
  try {
    await videos.handlers[job.kind as VideoHandlerKind](job, { signal: new AbortController().signal, renewals: 0 });
  } catch {
    const later = { job, dueAt: storeTimeOf(store.now() + 1_000), attempt: job.attempt + 1 };
    await store.commit(null, { postponeJobs: [later] }).catch(() => {}); // due again when its lease ends
  }
}
