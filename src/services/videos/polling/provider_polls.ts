import type { Clock } from "../../../platform/lib/basics/clock.ts";
import { errorName, type Log } from "../../../platform/lib/basics/log.ts";
import { UpstreamFailure } from "../../../vendors/upstreams/call/failure.ts";
import type { VideoProgress, VideoUpstream } from "../../../vendors/upstreams/contract/video_upstream.ts";
import type { AnswerHandler } from "./poll.ts";
import { PollPace } from "./poll_pace.ts";
import { PollQueue } from "./poll_queue.ts";
import type { PollSchedule } from "../tasks/poll_schedule.ts";
import { countMissing, endOfMissing, isMissingJob, type WatchedTask } from "./watched_task.ts";

/** Dependencies of the polls of one provider. */
export interface ProviderPollsParts {
  readonly provider: string;
  /** Undefined for a provider that is no longer configured. It can change, and is read for each request. */
  readonly upstream: VideoUpstream | undefined;
  readonly schedule: PollSchedule;
  readonly clock: Clock;
  readonly log: Log;
  readonly onAnswer: AnswerHandler;
  /** Called when a task needs no more polls. */
  readonly onDone: (task: WatchedTask) => void;
}

/** How the jobs at one provider are polled at present. */
export interface PollLoad {
  /** The budget: the most requests a second. */
  readonly perSecond: number;
  /** The number of tasks that this process polls. */
  readonly tasks: number;
  /** The number of requests under way. */
  readonly open: number;
  /** When the pause that the vendor asked for ends, in Unix milliseconds; null without a pause. */
  readonly pausedUntil: number | null;
}

/** Maximum number of concurrent requests, which bounds the effect of a vendor that hangs. */
const MAX_AT_ONCE = 64;
/** Minimum interval between a poll and a poll caused by a vendor callback. */
const CALLBACK_INTERVAL_MS = 5_000;
/** Maximum number of callbacks that cause a poll of one task. */
const MAX_CALLBACKS = 20;
/** Number of consecutive failed lists after which tasks are polled individually. */
const MAX_LIST_FAILURES = 3;

const PENDING: VideoProgress = { status: "pending", isRunning: null };

/** The tasks submitted to one provider; decides which to poll next and how fast. */
export class ProviderPolls {
  readonly #parts: ProviderPollsParts;
  readonly #pace: PollPace;
  /** Tasks polled by lists, if the vendor has them. */
  readonly #listed = new PollQueue<WatchedTask>();
  /** Tasks polled individually. */
  readonly #unlisted = new PollQueue<WatchedTask>();
  #running = 0;
  /** Number of consecutive failed lists. */
  #listFailures = 0;
  #isStarted = false;
  #stopTimer: () => void = () => {};

  /** Starts without tasks and sends nothing by itself before {@linkcode ProviderPolls.start}. */
  constructor(parts: ProviderPollsParts) {
    this.#parts = parts;
    this.#pace = new PollPace(parts.schedule.perSecond);
  }

  /** Number of running requests. */
  get running(): number {
    return this.#running;
  }

  /** The present load, of this number of watched tasks. */
  loadOf(tasks: number): PollLoad {
    const { clock, schedule } = this.#parts;
    const now = clock.monotonicMs();
    const pausedUntil = this.#pace.pausedUntil(now);
    return {
      perSecond: schedule.perSecond,
      tasks,
      open: this.#running,
      pausedUntil: pausedUntil === null ? null : clock.now() + pausedUntil - now,
    };
  }

  /** Starts polling tasks when they are due. */
  start(): void {
    this.#isStarted = true;
    this.#poll();
  }

  /** Sends no more requests; running ones continue. */
  stop(): void {
    this.#isStarted = false;
    this.#stopTimer();
  }

  /** Watches a task, to be polled at an instant. */
  add(task: WatchedTask, dueAt: number): void {
    this.#enqueue(task, dueAt);
    this.#poll();
  }

  /** Ends the watch of a task. */
  remove(task: WatchedTask): void {
    task.isDone = true;
    this.#listed.remove(task);
    this.#unlisted.remove(task);
  }

  /** The vendor reported a change of a task: it is polled as soon as allowed. */
  onCallback(task: WatchedTask): void {
    if (task.isDone || task.callbacks >= MAX_CALLBACKS || task.callbackAt < Infinity) return;
    task.callbacks++;
    const now = this.#parts.clock.monotonicMs();
    task.callbackAt = Math.max(now, task.polledAt + CALLBACK_INTERVAL_MS);
    const isDueBefore = task.dueAt > now && task.dueAt <= task.callbackAt;
    if (task.isBeingPolled || isDueBefore) return;
    this.#enqueue(task, task.callbackAt);
    this.#poll();
  }

  /** Ends a task whose deadline has passed, also during a pause of the vendor. */
  async expire(task: WatchedTask): Promise<void> {
    if (task.isBeingPolled || task.isDone) return;
    task.isBeingPolled = true;
    this.#listed.remove(task);
    this.#unlisted.remove(task);
    await this.#handle(task, PENDING);
    this.#poll();
  }

  /**
   * Sends all due requests that the limits allow. Resolves to the number of tasks after all responses were handled.
   */
  async pollDue(): Promise<number> {
    let count = 0;
    // Ends when no task is due: each is due again after its interval.
    for (let requests = this.#send(); requests.length > 0; requests = this.#send()) {
      count += (await Promise.all(requests)).reduce((sum, polled) => sum + polled, 0);
    }
    return count;
  }

  #poll(): void {
    if (!this.#isStarted) return;
    this.#send();
    this.#stopTimer();
    const nextAt = Math.min(this.#listed.nextAt, this.#unlisted.nextAt);
    if (nextAt === Infinity || this.#running >= MAX_AT_ONCE) return;
    const now = this.#parts.clock.monotonicMs();
    const waitMs = Math.max(Math.ceil(nextAt - now), Math.ceil(this.#pace.waitMs(now)), 1);
    this.#stopTimer = this.#parts.clock.after(Math.min(waitMs, MAX_TIMER_MS), () => this.#poll());
  }

  #send(): Promise<number>[] {
    const sent: Promise<number>[] = [];
    while (this.#running < MAX_AT_ONCE) {
      const now = this.#parts.clock.monotonicMs();
      if (this.#pace.waitMs(now) > 0) break;
      const tasks = this.#take(now);
      if (tasks.length === 0) break;
      this.#pace.spend(now);
      sent.push(this.#request(tasks));
    }
    return sent;
  }

  /** Returns the tasks of the next request. Tasks that will be due soon are included, which saves requests. */
  #take(now: number): WatchedTask[] {
    const { upstream, schedule } = this.#parts;
    const alone = () => this.#unlisted.take(now, 1, 0);
    const many = () =>
      this.#listed.take(now, upstream?.pollMany?.limit ?? 1, upstream?.pollMany ? schedule.minMs / 2 : 0);
    const isAlonesTurn = this.#unlisted.nextAt <= this.#listed.nextAt;
    const [first, second] = isAlonesTurn ? [alone, many] : [many, alone];
    const tasks = first();
    return tasks.length > 0 ? tasks : second();
  }

  async #request(tasks: readonly WatchedTask[]): Promise<number> {
    this.#running++;
    for (const task of tasks) {
      task.isBeingPolled = true;
      task.polledAt = this.#parts.clock.monotonicMs();
      task.callbackAt = Infinity;
    }
    try {
      const answers = await this.#answersFor(tasks);
      await Promise.all(tasks.map((task) => this.#handle(task, answers.get(task))));
    } finally {
      this.#running--;
      this.#poll();
    }
    return tasks.length;
  }

  async #handle(task: WatchedTask, answer: VideoProgress | undefined): Promise<void> {
    const { clock, onAnswer, onDone: onOver } = this.#parts;
    if (task.isDone) return;
    if (answer === undefined) task.isUnlisted = true;
    const nextAt = answer === undefined ? clock.monotonicMs() : await onAnswer(task, answer);
    task.isBeingPolled = false;
    if (task.isDone) return; // the caller ended it meanwhile
    if (nextAt === null) {
      task.isDone = true;
      onOver(task);
    } else {
      this.#enqueue(task, Math.min(nextAt, task.callbackAt));
    }
  }

  /** Returns the vendor's responses by task; a task missing from the vendor's list has none. */
  async #answersFor(tasks: readonly WatchedTask[]): Promise<Answers> {
    const { upstream, provider, clock, log } = this.#parts;
    const [first] = tasks;
    if (first === undefined) return new Map();
    if (!upstream) {
      log.warn("video_provider_missing", { ref: first.id, provider });
      return new Map(tasks.map((task) => [task, PENDING]));
    }
    const isList = upstream.pollMany !== undefined && !first.isUnlisted;
    try {
      const answers = isList ? await askMany(upstream, tasks) : await askOne(upstream, first);
      this.#pace.onAnswer();
      if (isList) this.#listFailures = 0;
      for (const task of answers.keys()) task.missing = null;
      return answers;
    } catch (error) {
      const failure = error instanceof UpstreamFailure ? error : null;
      const { status = null, retryAfterSeconds } = failure?.facts ?? {};
      log.warn("video_poll_failed", {
        ref: first.id,
        provider,
        count: tasks.length,
        code: failure?.kind ?? errorName(error),
        status: status ?? undefined,
      });
      if (isRejection(failure)) {
        const pauseMs = this.#pace.onRefusal(clock.monotonicMs(), retryAfterSeconds);
        log.warn("video_polls_paused", { provider, durationMs: pauseMs });
      } else if (isList && (isOfList(failure) || ++this.#listFailures >= MAX_LIST_FAILURES)) {
        return new Map(); // each is polled individually from now on
      }
      if (!isList && failure !== null && isMissingJob(failure)) return new Map([[first, this.#missed(first)]]);
      const progress = retryAfterSeconds === undefined ? PENDING : { ...PENDING, retryAfterSeconds };
      return new Map(tasks.map((task) => [task, progress]));
    }
  }

  /** Returns what a poll means after which the vendor returned that it has no such job. */
  #missed(task: WatchedTask): VideoProgress {
    const { clock, provider, log } = this.#parts;
    const now = clock.monotonicMs();
    task.missing = countMissing(task.missing, now);
    const end = endOfMissing(task.missing, now);
    if (end !== null) log.warn("video_job_lost", { ref: task.id, provider, count: task.missing.polls });
    return end ?? PENDING;
  }

  #enqueue(task: WatchedTask, dueAt: number): void {
    task.dueAt = dueAt;
    this.#queueOf(task).add(task, dueAt, task.callbackAt < Infinity);
  }

  #queueOf(task: WatchedTask): PollQueue<WatchedTask> {
    const isListed = this.#parts.upstream?.pollMany !== undefined && !task.isUnlisted;
    return isListed ? this.#listed : this.#unlisted;
  }
}

/** `setTimeout` accepts at most 2^31 ms. */
const MAX_TIMER_MS = 3_600_000;

type Answers = ReadonlyMap<WatchedTask, VideoProgress>;

async function askOne(upstream: VideoUpstream, task: WatchedTask): Promise<Answers> {
  return new Map([[task, await upstream.poll(task.handle)]]);
}

async function askMany({ pollMany }: VideoUpstream, tasks: readonly WatchedTask[]): Promise<Answers> {
  const answers = await pollMany!.poll(tasks.map(({ handle }) => handle));
  return new Map(tasks.flatMap((task) => {
    const answer = answers.get(task.handle.id);
    return answer ? [[task, answer] as const] : [];
  }));
}

/** Whether the vendor rejects all polls, independent of the task. */
function isRejection(failure: UpstreamFailure | null): boolean {
  if (failure === null) return false;
  const { status, retryAfterSeconds } = failure.facts;
  return failure.kind === "rate_limited" || (status === 503 && retryAfterSeconds !== undefined);
}

/** Whether the list itself is rejected or unreadable, so that individual polls may succeed. */
function isOfList(failure: UpstreamFailure | null): boolean {
  return failure === null || failure.kind === "invalid" || failure.kind === "broken" || failure.kind === "forbidden";
}
