import { systemClock } from "../src/platform/lib/basics/clock.ts";
import { silentLog } from "../src/platform/lib/basics/log.ts";
import { MAX_MONEY } from "../src/platform/lib/basics/money.ts";
import { createJobRunner } from "../src/platform/store/job_runner.ts";
import { openKvStore } from "../src/platform/store/kv/open_kv_store.ts";
import type { JobStore } from "../src/platform/store/store.ts";
import type { VideoUpstream } from "../src/vendors/upstreams/contract/video_upstream.ts";
import type { Videos } from "../src/services/videos/videos.ts";
import { BENCH_VIDEO_MODEL, videoEngineFor } from "./video_engine.ts";

/** Options of the measurement. */
export interface VideoBenchOptions {
  /** Concurrent videos. Default 10,000. */
  readonly open?: number;
  /** The time between two polls of a video, in milliseconds. Default 30 s, the maximum of the default schedule. */
  readonly intervalMs?: number;
  /** How many intervals are measured. Default 2. */
  readonly intervals?: number;
  /** Concurrent creations. Default 256. */
  readonly parallel?: number;
}

/** The results. */
export interface VideoBenchResult {
  readonly createsPerSecond: number;
  /** The rate of the bare engine for the same records in the same groups. */
  readonly rawPerSecond: number;
  readonly looksPerSecond: number;
  /** The time between two polls of one video, as a multiple of the interval. */
  readonly lateness: { readonly p50: number; readonly p99: number; readonly most: number };
  readonly rssBytes: number;
}

const VENDOR_MS = 20;
const CALL = {
  keyId: "bench-key",
  accountId: "bench",
  limits: null,
  receivedAt: 0,
  key: null,
};
const BODY = { model: BENCH_VIDEO_MODEL, prompt: "A lighthouse at dusk, waves, a slow pan to the left" };

/** Creates videos as fast as one process can, then polls them all, with a vendor that answers after 20 ms. */
export async function benchVideos(options: VideoBenchOptions = {}): Promise<VideoBenchResult> {
  const { open = 10_000, intervalMs = 30_000, intervals = 2, parallel = 256 } = options;
  const folder = await Deno.makeTempDir();
  const recorder = new Recorder();
  const store = await openKvStore({
    path: `${folder}/bench.db`,
    clock: systemClock,
    log: silentLog,
    openKv: recorder.open,
  });
  await store.commit(null, { changeBalances: [{ account: "bench", available: MAX_MONEY, held: 0n }] });
  const pollRecorder = new PollRecorder(intervalMs);
  const videos = engineOf(store, pollRecorder.vendor, `${folder}/files`, intervalMs);
  recorder.isOn = true;
  const createsPerSecond = await rateOf(open, parallel, async () => void await videos.create({ ...CALL, body: BODY }));
  recorder.isOn = false;
  const rawPerSecond = await rawRate(`${folder}/raw.db`, open, recorder.atomics.splice(0));
  const runner = createJobRunner({
    store,
    clock: systemClock,
    log: silentLog,
    handlers: videos.handlers,
    concurrency: videos.concurrency,
  });
  const polling = videos.poller.start();
  await pollRecorder.until(open); // every video was polled once
  pollRecorder.begin();
  await new Promise((resolve) => setTimeout(resolve, intervals * intervalMs));
  const result = {
    createsPerSecond,
    rawPerSecond,
    looksPerSecond: pollRecorder.count / (intervals * intervalMs / 1_000),
    lateness: pollRecorder.lateness(),
    rssBytes: Deno.memoryUsage().rss,
  };
  await Promise.all([runner.drain(1_000), polling.drain(1_000)]);
  await store.close();
  await Deno.remove(folder, { recursive: true });
  return result;
}

/** A vendor whose videos never end, which records the time of each poll. */
class PollRecorder {
  readonly #lastAt = new Map<string, number>();
  #ratios: number[] = [];
  #isMeasuring = false;
  count = 0;
  readonly vendor: VideoUpstream;

  constructor(intervalMs: number) {
    const wait = () => new Promise((resolve) => setTimeout(resolve, VENDOR_MS));
    this.vendor = {
      mediaForms: { image: ["url"], audio: ["url"], video: ["url"] },
      create: (order) => wait().then(() => ({ id: order.taskId, place: null })),
      poll: async ({ id }) => {
        const now = performance.now();
        const last = this.#lastAt.get(id);
        if (this.#isMeasuring && last !== undefined) this.#ratios.push((now - last) / intervalMs);
        if (this.#isMeasuring) this.count++;
        this.#lastAt.set(id, now);
        await wait();
        return { status: "pending", isRunning: true };
      },
      cancel: null,
      find: null,
      open: null,
    };
  }

  async until(count: number): Promise<void> {
    while (this.#lastAt.size < count) await new Promise((resolve) => setTimeout(resolve, 100));
  }

  begin(): void {
    this.#isMeasuring = true;
  }

  lateness(): VideoBenchResult["lateness"] {
    const sorted = this.#ratios.toSorted((a, b) => a - b);
    const at = (share: number) => sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? NaN;
    return { p50: at(0.5), p99: at(0.99), most: at(1) };
  }
}

function engineOf(store: JobStore, vendor: VideoUpstream, files: string, intervalMs: number): Videos {
  const polling = { firstMs: intervalMs, minMs: intervalMs, maxMs: intervalMs, perSecond: 1_000 };
  return videoEngineFor({ store, vendor, files, polling });
}

/** Completed calls per second, with that many concurrent ones. */
async function rateOf(count: number, parallel: number, work: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  let left = count;
  await Promise.all(Array.from({ length: parallel }, async () => {
    while (left-- > 0) await work();
  }));
  return count / ((performance.now() - begun) / 1_000);
}

/** The records of one atomic write. */
interface Atomic {
  readonly checks: Deno.AtomicCheck[];
  readonly sets: { readonly key: Deno.KvKey; readonly value: unknown }[];
}

/** A database that records atomic writes while recording is on. */
class Recorder {
  readonly atomics: Atomic[] = [];
  isOn = false;

  readonly open = async (path: string): Promise<Deno.Kv> => {
    const kv = await Deno.openKv(path);
    const begin = kv.atomic.bind(kv);
    kv.atomic = () => this.isOn ? this.#noted(begin()) : begin();
    return kv;
  };

  #noted(atomic: Deno.AtomicOperation): Deno.AtomicOperation {
    const note: Atomic = { checks: [], sets: [] };
    this.atomics.push(note);
    const check = atomic.check.bind(atomic);
    const set = atomic.set.bind(atomic);
    atomic.check = (...checks) => {
      note.checks.push(...checks);
      return check(...checks);
    };
    atomic.set = (key, value, options) => {
      note.sets.push({ key, value });
      return set(key, value, options);
    };
    return atomic;
  }
}

/** Writes the same records in the same groups with the bare engine, one group after another. */
async function rawRate(path: string, count: number, atomics: readonly Atomic[]): Promise<number> {
  const kv = await Deno.openKv(path);
  const begun = performance.now();
  for (const { checks, sets } of atomics) {
    const atomic = kv.atomic();
    for (const { key, versionstamp } of checks) if (versionstamp === null) atomic.check({ key, versionstamp });
    for (const { key, value } of sets) atomic.set(key, value);
    await atomic.commit();
  }
  const rate = count / ((performance.now() - begun) / 1_000);
  kv.close();
  return rate;
}

if (import.meta.main) {
  const [open, intervalSeconds] = Deno.args.map(Number);
  const options = { ...(open && { open }), ...(intervalSeconds && { intervalMs: intervalSeconds * 1_000 }) };
  const result = await benchVideos(options);
  const ratio = result.createsPerSecond / result.rawPerSecond;
  console.log(JSON.stringify({ ...result, createsOfRaw: ratio }, null, 2));
}
