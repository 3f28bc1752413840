import { Late } from "../../platform/lib/process/late.ts";
import type { Model } from "../../vendors/catalog/model.ts";
import { permittedCatalog } from "../../vendors/catalog/permitted_catalog.ts";
import type { Money } from "../../platform/lib/basics/money.ts";
import { GatewayError, invalidField } from "../../platform/lib/basics/gateway_error.ts";
import { type CountedRequest, type RateTerms, RequestRate } from "../../money/limits/request_rate.ts";
import type { JobHandler } from "../../platform/store/job_runner.ts";
import { type ContentChoice, locationsOf } from "./results/content.ts";
import { createVideo, TaskNotTakenError, type TaskWork } from "./create/create.ts";
import { cancelVideo } from "./submit/cancel.ts";
import type { DryRunResult } from "./create/dry_run.ts";
import { type CreateKey, IdempotentCreates, type IdempotentTask } from "./create/idempotency.ts";
import { MAX_COPIES } from "./results/copy_limiter.ts";
import { mirrorHandler } from "./results/mirror.ts";
import { planVideo, type VideoCall } from "./create/plan.ts";
import { createPoller, type Poller } from "./polling/poller.ts";
import {
  type EndedVideo,
  endedVideos,
  listOwnTasks,
  type OwnTaskFilter,
  type OwnTaskPageRequest,
} from "./tasks/own_tasks.ts";
import { readTask, type VideoJobKind } from "./tasks/records.ts";
import { taskNotFound } from "./tasks/video_errors.ts";
import { purgeVideo } from "./upkeep/remove_task.ts";
import { AddressRenewal } from "./results/renew_addresses.ts";
import { originalsExpireAt } from "./results/result_source.ts";
import { Holdings } from "../../platform/lib/collections/holdings.ts";
import { ResultStreamer, type StreamedResult, type StreamRequest } from "./results/result_streamer.ts";
import { submitHandler } from "./submit/submit.ts";
import { createSubmitLimits, stopConcurrency, submitConcurrency } from "./submit/submit_limits.ts";
import { eventIdOf, takeStream, type TaskEventReader, taskEvents } from "./events/task_events.ts";
import { isTaskId, taskIdIn } from "./tasks/task_id.ts";
import {
  estimateOf,
  mirrorUrl,
  pollingUrlOf,
  type TaskObject,
  taskObjectOf,
  type UsageObject,
} from "./tasks/task_object.ts";
import type { VideoTask } from "./tasks/task.ts";
import { TaskWatch } from "./events/task_watch.ts";
import { isCallbackToken } from "./polling/vendor_callback.ts";
import type { VideoParts } from "./tasks/video_parts.ts";

/** A create request from a protocol. */
export interface VideoCreate extends VideoCall {
  /** Null if none was sent. */
  readonly key: CreateKey | null;
}

/** Result of a create request. */
export interface CreatedVideo extends IdempotentTask {
  /** Null if the task no longer exists. */
  readonly estimate: UsageObject | null;
  /** Request fields that at least one candidate does not support. */
  readonly dropped: readonly string[];
}

/** One page of a credential's tasks. */
export interface TaskPage {
  readonly tasks: readonly TaskObject[];
  /** Cursor for the next page; null on the last page. */
  readonly next: string | null;
}

/** The functions of videos that the endpoints and the job runner use. */
export interface Videos {
  create(call: VideoCreate): Promise<CreatedVideo>;
  /** Dry run of a create request, see `dryRunVideo`. */
  dryRun(call: VideoCall): Promise<DryRunResult>;
  /**
   * The highest cost of a create request, whose media and balance are not checked.
   *
   * @throws {GatewayError} What is wrong with the request.
   */
  estimate(call: VideoCall): Promise<Money>;
  /**
   * Creates a task that is a part of other work. Returns whether that work took it.
   *
   * @throws {GatewayError} As a create request.
   */
  createFor(work: TaskWork, call: VideoCall): Promise<boolean>;
  /** See {@linkcode endedVideos}. */
  readEnded(ids: readonly string[]): Promise<ReadonlyMap<string, EndedVideo | null>>;
  /** Counts a poll of a task, see {@linkcode RequestRate}. */
  countPoll(keyId: string): Promise<CountedRequest>;
  /** Returns a task; throws `not_found`, also for a task of another credential. */
  read(keyId: string, id: string): Promise<TaskObject>;
  /**
   * Lists tasks in order of creation.
   *
   * @param filter `model`: any name of the model in the catalog.
   * @throws {GatewayError} `invalid_request` if `after` is not a task id.
   */
  list(keyId: string, filter: OwnTaskFilter, page: OwnTaskPageRequest): Promise<TaskPage>;
  /**
   * Returns the changes of a task as a stream, see {@linkcode taskEvents}; null if the reader has received the last
   * one.
   *
   * @throws {GatewayError} `not_found`; `rate_limited` if the credential has too many streams.
   */
  events(
    keyId: string,
    id: string,
    lastEventId: string | null,
    reader: TaskEventReader,
  ): Promise<ReadableStream<Uint8Array> | null>;
  /** Ends all event streams before the process ends; readers reconnect to another process. */
  endEvents(): void;
  cancel(keyId: string, id: string): Promise<TaskObject>;
  /** See {@linkcode purgeVideo}. */
  purge(keyId: string, id: string): Promise<void>;
  /**
   * Returns the address of a result: the gateway's copy if there is or will be one, else the vendor's while it is
   * valid. Throws `not_found`.
   */
  contentOf(keyId: string, id: string, choice: ContentChoice): Promise<string>;
  /** The ids of the models that this caller may use and that take a video as reference, to edit or extend it. */
  modelsWithVideoReferences(caller: Pick<VideoCall, "limits" | "receivedAt">): readonly string[];
  /** Streams the original of a missing copy, see {@linkcode ResultStreamer.open}. */
  streamResult(name: string, request: StreamRequest): Promise<StreamedResult | null>;
  /** Whether the task in a file's name exists; true for a name without a task id. */
  isOwned(name: string): Promise<boolean>;
  readonly pollingUrl: (id: string) => string;
  /** By kind, for a job runner; the poller handles `video_poll`. */
  readonly handlers: Readonly<Record<VideoHandlerKind, JobHandler>>;
  readonly concurrency: Readonly<Record<VideoHandlerKind, number>>;
  readonly poller: Poller;
  /**
   * Accepts a vendor's notification about a task; false if the token is not the task's.
   * See {@linkcode Poller.onCallback}.
   */
  acceptCallback(id: string, token: string): boolean;
}

/** Kinds of jobs that a runner passes to their handlers. */
export type VideoHandlerKind = Exclude<VideoJobKind, "video_poll">;

/** Limits of one credential. They can change, and are read for each request. */
export interface CallerLimits {
  /** Limits of polling its tasks. */
  readonly polling: RateTerms;
  /** Maximum number of concurrent event streams. */
  readonly eventStreams: number;
}

const POLLING = "video-polling";

const dryRunModule = new Late(() => import("./create/dry_run.ts"));
const forgetModule = new Late(() => import("./results/remove_files.ts"));
const stopModule = new Late(() => import("./submit/stop.ts"));

/** Creates the video service. */
export function createVideos(given: VideoParts, limits: CallerLimits): Videos {
  const watch = new TaskWatch(given.store, given.clock);
  const parts = { ...given, store: watch.observedStore() };
  const streams = new Holdings();
  let polling = limits.polling;
  let limit = new RequestRate(parts.store, POLLING, polling);
  const submitLimits = createSubmitLimits(parts);
  const onSubmit = submitHandler(parts, submitLimits);
  const creates = new IdempotentCreates(parts.store);
  const poller = createPoller(parts);
  const renewal = new AddressRenewal(parts);
  const results = new ResultStreamer(parts, renewal);
  const objectOf = (task: VideoTask) => taskObjectOf(task, parts.store.now(), parts);

  async function own(keyId: string, id: string): Promise<VideoTask> {
    const entry = isTaskId(id) ? await readTask(parts.store, id) : null;
    if (entry?.value.keyId !== keyId) throw taskNotFound();
    return entry.value;
  }

  return {
    async create({ key, ...call }) {
      const tasks: VideoTask[] = [];
      const create = async () => {
        const task = await createVideo(parts, call, { key, work: null });
        tasks.push(task);
        return task.id;
      };
      const created = key === null
        ? { taskId: await create(), replayed: false }
        : await creates.run(call.keyId, key, create);
      const task = tasks.at(0) ?? (await readTask(parts.store, created.taskId))?.value;
      return { ...created, estimate: task ? estimateOf(task.price) : null, dropped: task?.dropped ?? [] };
    },
    async dryRun(call) {
      const { dryRunVideo } = await dryRunModule.load();
      return await dryRunVideo(parts, call);
    },
    estimate: async (call) => (await planVideo(parts, call)).price.estimate,
    async createFor(work, call) {
      try {
        await createVideo(parts, call, { key: null, work });
        return true;
      } catch (error) {
        if (error instanceof TaskNotTakenError) return false;
        throw error;
      }
    },
    readEnded: (ids) => endedVideos(parts, ids),
    countPoll(keyId) {
      if (limits.polling !== polling) limit = new RequestRate(parts.store, POLLING, polling = limits.polling);
      return limit.take(keyId);
    },
    read: async (keyId, id) => objectOf(await own(keyId, id)),
    async list(keyId, filter, page) {
      if (page.after !== null && !isTaskId(page.after)) throw invalidField("after", "expected a task id");
      const model = filter.model === null
        ? null
        : parts.catalog.at(parts.store.now()).find(filter.model)?.id ?? filter.model;
      const { tasks, next } = await listOwnTasks(parts.store, keyId, { ...filter, model }, page);
      return { tasks: tasks.map(objectOf), next };
    },
    async events(keyId, id, lastEventId, reader) {
      const task = await own(keyId, id);
      if (task.status !== "pending" && eventIdOf(objectOf(task)) === lastEventId) return null;
      const onEnd = takeStream(streams, keyId, limits.eventStreams);
      return taskEvents(id, lastEventId, { watch, reader, objectOf, onEnd });
    },
    endEvents: () => watch.close(),
    async cancel(keyId, id) {
      if (!isTaskId(id)) throw taskNotFound();
      const task = await cancelVideo(parts, { limits: submitLimits, poller }, keyId, id);
      await poller.release(id);
      return objectOf(task);
    },
    async purge(keyId, id) {
      if (!isTaskId(id)) throw taskNotFound();
      await purgeVideo(parts, keyId, id);
    },
    async contentOf(keyId, id, choice) {
      const task = await own(keyId, id);
      const { mirror, vendorUrl } = locationsOf(task, choice);
      if (mirror !== undefined) return mirrorUrl(mirror, parts.store.now(), parts);
      if (vendorUrl && originalsExpireAt(parts, task) > parts.store.now()) return vendorUrl;
      throw choice.type === "video" && choice.index < task.results.length ? resultGone() : taskNotFound();
    },
    modelsWithVideoReferences({ limits, receivedAt }) {
      const { models } = permittedCatalog(parts.catalog.at(receivedAt), limits);
      return models.filter((model) => isEditor(model, parts)).map(({ id }) => id);
    },
    streamResult: (name, request) => results.open(name, request),
    async isOwned(name) {
      const id = taskIdIn(name);
      return id === null || await readTask(parts.store, id) !== null;
    },
    pollingUrl: (id) => pollingUrlOf(id, parts),
    handlers: {
      video_submit: onSubmit,
      video_submit_retry: onSubmit,
      async video_stop(...job) {
        const { stopHandler } = await stopModule.load();
        return await stopHandler(parts, submitLimits)(...job);
      },
      video_mirror: mirrorHandler(parts, renewal),
      async video_forget(...job) {
        const { forgetHandler } = await forgetModule.load();
        return await forgetHandler(parts)(...job);
      },
    },
    concurrency: {
      video_submit: submitConcurrency(parts),
      video_submit_retry: submitConcurrency(parts),
      video_stop: stopConcurrency(parts),
      video_mirror: MAX_COPIES,
      video_forget: 4,
    },
    poller,
    acceptCallback(id, token) {
      const isOurs = isCallbackToken(id, token, parts.signingKeys);
      if (isOurs) poller.onCallback(id);
      return isOurs;
    },
  };
}

function resultGone(): GatewayError {
  return new GatewayError("not_found", "Cannot find the video: the gateway and the provider no longer retain it");
}

/** Whether a provider of the model takes videos as references of its videos. */
function isEditor({ video, serves }: Model, { upstreams }: Pick<VideoParts, "upstreams">): boolean {
  if (!video?.modes.includes("mixref2video") || video.references.video === 0) return false;
  return serves.some(({ provider }) => (upstreams.get(provider)?.mediaForms.video.length ?? 0) > 0);
}
