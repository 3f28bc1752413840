import type { Route } from "../../../platform/http/request/inbound.ts";
import { MAX_MEDIA_REQUEST_VALUES } from "../../../platform/http/bodies/json_body.ts";
import { fileRoutes } from "../../../protocols/default/files.ts";
import { videoCallbackRoutes } from "../../../protocols/default/videos/video_callbacks.ts";
import { defaultVideoRoutes } from "../../../protocols/default/videos/videos.ts";
import { createJobRunner, type JobRunner } from "../../../platform/store/job_runner.ts";
import { NO_ALLOWANCES } from "../../../vendors/upstreams/contract/allowances.ts";
import { fileSweep, taskSweep } from "../../../services/videos/upkeep/retention.ts";
import type { Provider } from "../../../vendors/upstreams/contract/provider.ts";
import type { VideoUpstream } from "../../../vendors/upstreams/contract/video_upstream.ts";
import type { VideoParts } from "../../../services/videos/tasks/video_parts.ts";
import { createVideos, type Videos } from "../../../services/videos/videos.ts";
import type { ConfiguredParts } from "../opening/configured_parts.ts";
import { joinRunners } from "../jobs/job_runners.ts";
import { createReadableFiles } from "../opening/late_stored_files.ts";
import type { OwnedServices } from "../opening/own.ts";
import type { Sweep } from "../jobs/retention.ts";

/** What {@linkcode createVideoFeature} needs beside the services. */
export interface VideoFeatureOptions
  extends Pick<VideoParts, "onTerminal" | "onRemoval" | "hasPendingDelivery" | "isTestReceiver"> {
  /** Gives the gateway's own address without a final slash. Called only after the gateway listens. */
  readonly baseUrl: () => string;
  /** Gives the parts of the configuration in force. */
  readonly current: () => ConfiguredParts;
}

/** The services that videos use. Their configuration is the one at the start. */
type VideoServices = Omit<OwnedServices, "egress"> & Pick<VideoParts, "egress">;

/** Videos: their operations and their jobs. */
export interface VideoFeature {
  readonly videos: Videos;
  /** The sweeps that remove tasks and files at the end of their retention. */
  readonly sweeps: readonly Sweep[];
  /** Starts the jobs. Called after the gateway listens, as vendors are given its address. */
  startJobs(): JobRunner;
  /**
   * Takes the providers of a new configuration. Tasks of a provider that it lacks continue with the provider's last
   * settings.
   */
  onProviders(providers: ReadonlyMap<string, Provider>): void;
}

/** Builds videos. They last as long as the process, since tasks do; settings are read when they are used. */
export function createVideoFeature(
  services: VideoServices,
  options: VideoFeatureOptions,
): VideoFeature {
  const { config: { retention }, providers, store, clock, log } = services;
  const { current } = options;
  const upstreams = new Map<string, VideoUpstream>();
  addUpstreams(upstreams, providers);
  const parts = { ...videoPartsOf(services, options), upstreams };
  const videos = createVideos(parts, {
    get polling() {
      return current().config.limits.videoPolling;
    },
    get eventStreams() {
      return current().config.limits.videoEventStreams;
    },
  });
  return {
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
    onProviders: (changed) => addUpstreams(upstreams, changed),
  };
}

/** The number of providers whose tasks can continue. Beyond it, the one that was removed first is dropped. */
const MAX_UPSTREAMS = 1_000;

function addUpstreams(upstreams: Map<string, VideoUpstream>, providers: ReadonlyMap<string, Provider>): void {
  for (const [id, { capabilities: { videos } }] of providers) {
    if (videos === undefined) continue;
    upstreams.delete(id); // so that ids are in the order of their last use
    upstreams.set(id, videos);
  }
  for (const name of upstreams.keys()) {
    if (upstreams.size <= MAX_UPSTREAMS || providers.has(name)) break;
    upstreams.delete(name);
  }
}

/** One job copies all results of a task, and a single one can be slow. */
const COPY_TIMEOUT_MS = 3 * 3_600_000;

function videoPartsOf(services: VideoServices, options: VideoFeatureOptions): Omit<VideoParts, "upstreams"> {
  const { config: { billing, server }, store, files, signingKeys } = services;
  const { current } = options;
  return {
    ...services,
    ...options,
    writeGuard: store.writeGuard,
    catalog: { at: (momentMs) => current().catalog.at(momentMs) },
    allowancesOf: (name) => current().providers.get(name)?.allows ?? NO_ALLOWANCES,
    isProvider: (name) => current().providers.get(name)?.name === name,
    files: files.results,
    stored: createReadableFiles(services),
    signingKeys: signingKeys.keys,
    settings: {
      preauthorize: billing.preauthorize,
      unknownCreates: billing.unknownCreates,
      polling: services.config.limits.vendorPolling,
      vendorCallbacks: server.vendorCallbacks,
      get deadlineMs() {
        return current().config.limits.videoDeadlineMs;
      },
      get signedUrlMs() {
        return current().config.limits.signedUrlMs;
      },
      get doubtMs() {
        return current().config.limits.videoDoubtMs;
      },
    },
  };
}

/** Builds the endpoints of videos with the body limits of one configuration. */
export function createVideoRoutes(
  { config, store, authenticate, bodies, files, signingKeys, log }: OwnedServices,
  videos: Videos,
): Route[] {
  const { videoBodyBytes: capBytes, largeBodyBytes: aboveBytes, bodyIdleMs: idleMs } = config.limits;
  return [
    ...defaultVideoRoutes({
      videos,
      authenticate,
      bodyLimits: { capBytes, idleMs, maxValues: MAX_MEDIA_REQUEST_VALUES },
      bodyThread: { reader: bodies, aboveBytes },
    }),
    ...videoCallbackRoutes({ videos, bodyIdleMs: idleMs }),
    ...fileRoutes({
      files: files.results,
      log,
      signingKeys: signingKeys.keys,
      now: () => store.now(),
      isOwned: videos.isOwned,
      streamResult: videos.streamResult,
    }),
  ];
}
