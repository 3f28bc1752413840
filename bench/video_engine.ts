/** The video engine on the machine's own clock, with one vendor and one model, for several benchmarks. */
import { createMeter } from "../src/money/billing/meter/create_meter.ts";
import { createCatalog } from "../src/vendors/catalog/catalog.ts";
import { readModel } from "../src/vendors/catalog/model.ts";
import { NO_STORED_FILES } from "../tests/support/no_stored_files.ts";
import { openFileDirectory } from "../src/platform/files/directory.ts";
import { systemClock } from "../src/platform/lib/basics/clock.ts";
import { silentLog } from "../src/platform/lib/basics/log.ts";
import type { EgressPolicy } from "../src/platform/net/target.ts";
import { createCircuitBreaker } from "../src/vendors/routing/circuit_breaker.ts";
import type { JobStore } from "../src/platform/store/store.ts";
import type { VideoUpstream } from "../src/vendors/upstreams/contract/video_upstream.ts";
import type { PollSchedule } from "../src/services/videos/tasks/poll_schedule.ts";
import type { TerminalHook } from "../src/services/videos/tasks/video_parts.ts";
import { createVideos, type Videos } from "../src/services/videos/videos.ts";
import { createMediaWork } from "../src/platform/workers/media_work.ts";

/** The only model; its price per second is close to zero. */
export const BENCH_VIDEO_MODEL = "bench/video";

/** Options of the engine. */
export interface BenchVideosOptions {
  readonly store: JobStore;
  readonly vendor: VideoUpstream;
  /** The folder of the files. */
  readonly files: string;
  readonly polling: PollSchedule;
  /** Default: the default rules, without exceptions. */
  readonly egress?: EgressPolicy;
  /** Additional effects of the end of a task. Default: none. */
  readonly onTerminal?: TerminalHook;
}

/** Builds the engine. */
export function videoEngineFor({ store, vendor, files, polling, ...options }: BenchVideosOptions): Videos {
  const model = readModel({
    id: BENCH_VIDEO_MODEL,
    video: { modes: ["text2video"], price_per_second: { default: "0.0001" } },
    serves: [{ provider: "bench" }],
  });
  return createVideos({
    store,
    meter: createMeter({ store, clock: systemClock, log: silentLog }),
    clock: systemClock,
    log: silentLog,
    catalog: createCatalog([model]),
    upstreams: new Map([["bench", vendor]]),
    isProvider: () => true,
    breaker: createCircuitBreaker({ clock: systemClock }),
    files: openFileDirectory(files),
    stored: NO_STORED_FILES,
    signingKeys: [{ id: "bench", secret: new Uint8Array(32) }],
    egress: options.egress ?? { allow: [], own: [] },
    media: createMediaWork({ clock: systemClock, log: silentLog }),
    baseUrl: () => "https://gateway.example",
    settings: {
      preauthorize: true,
      deadlineMs: 86_400_000,
      signedUrlMs: 86_400_000,
      polling,
      doubtMs: 300_000,
      unknownCreates: "release",
    },
    onRemoval: () => Promise.resolve(true),
    hasPendingDelivery: () => Promise.resolve(false),
    onTerminal: options.onTerminal ?? ((commit) => commit),
    random: Math.random,
  }, { polling: { requests: 60, perMs: 60_000, burst: 10 }, eventStreams: 100 });
}
