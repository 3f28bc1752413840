import type { Route } from "../http/inbound.ts";
import { MAX_MEDIA_REQUEST_VALUES } from "../http/json_body.ts";
import { fileRoutes } from "../protocols/default/files.ts";
import { videoCallbackRoutes } from "../protocols/default/video_callbacks.ts";
import { defaultVideoRoutes } from "../protocols/default/videos.ts";
import { createJobRunner, type JobRunner } from "../store/job_runner.ts";
import { NO_ALLOWANCES } from "../upstreams/allowances.ts";
import { fileSweep, taskSweep } from "../videos/tasks/retention.ts";
import type { VideoParts } from "../videos/video_parts.ts";
import { createVideos, type Videos } from "../videos/videos.ts";
import { joinRunners } from "./job_runners.ts";
import type { OwnedServices } from "./own.ts";
import type { Sweep } from "./retention.ts";

/** What {@linkcode createVideoFeature} needs beside the services. */
export interface VideoFeatureOptions extends Pick<VideoParts, "onTerminal" | "onRemoval" | "hasPendingDelivery"> {
  /** Gives the gateway's own address without a final slash. Called only after the gateway listens. */
  readonly baseUrl: () => string;
}

/** Videos: their endpoints and their jobs. */
export interface VideoFeature {
  readonly routes: readonly Route[];
  /** Tasks, for endpoints that other features add to a task. */
  readonly videos: Pick<Videos, "read" | "endEvents">;
  /** The sweeps that remove tasks and files at the end of their retention. */
  readonly sweeps: readonly Sweep[];
  /** Starts the jobs. Called after the gateway listens, as vendors are given its address. */
  startJobs(): JobRunner;
}

/** Builds videos. */
export function createVideoFeature(services: OwnedServices, options: VideoFeatureOptions): VideoFeature {
  const { config: { retention, limits }, store, clock, log } = services;
  const parts = videoPartsOf(services, options);
  const videos = createVideos(parts, { polling: limits.videoPolling, eventStreams: limits.videoEventStreams });
  return {
    routes: videoRoutesOf(services, videos),
    videos,
    sweeps: [fileSweep(parts, retention.filesMs), taskSweep(parts, retention.tasksMs)],
    startJobs() {
      const { concurrency, poller, handlers: { video_mirror, ...handlers } } = videos;
      const shared = { store, clock, log, concurrency };
      return joinRunners([
        createJobRunner({ ...shared, handlers }),
        createJobRunner({ ...shared, handlers: { video_mirror }, timeoutMs: COPY_TIMEOUT_MS }),
        poller.start(),
      ]);
    },
  };
}

/** One job copies all results of a task, and a single one can be slow. */
const COPY_TIMEOUT_MS = 3 * 3_600_000;

function videoPartsOf(services: OwnedServices, options: VideoFeatureOptions): VideoParts {
  const { config: { billing, limits, server }, store, providers, files, signingKeys } = services;
  const upstreams = [...providers.values()].flatMap(({ name, videos }) => videos ? [[name, videos] as const] : []);
  return {
    ...services,
    ...options,
    writeGuard: store.writeGuard,
    upstreams: new Map(upstreams),
    allowancesOf: (name) => providers.get(name)?.allows ?? NO_ALLOWANCES,
    isProvider: (name) => providers.has(name),
    files: files.results,
    signingKeys: signingKeys.keys,
    settings: {
      preauthorize: billing.preauthorize,
      unknownCreates: billing.unknownCreates,
      deadlineMs: limits.videoDeadlineMs,
      signedUrlMs: limits.signedUrlMs,
      polling: limits.vendorPolling,
      vendorCallbacks: server.vendorCallbacks,
      doubtMs: limits.videoDoubtMs,
    },
  };
}

function videoRoutesOf({ config, store, authenticate, files, signingKeys }: OwnedServices, videos: Videos): Route[] {
  const { videoBodyBytes: capBytes, bodyIdleMs: idleMs } = config.limits;
  return [
    ...defaultVideoRoutes({
      videos,
      authenticate,
      bodyLimits: { capBytes, idleMs, maxValues: MAX_MEDIA_REQUEST_VALUES },
    }),
    ...videoCallbackRoutes({ videos, bodyIdleMs: idleMs }),
    ...fileRoutes({
      files: files.results,
      signingKeys: signingKeys.keys,
      now: () => store.now(),
      isOwned: videos.isOwned,
      streamResult: videos.streamResult,
    }),
  ];
}
