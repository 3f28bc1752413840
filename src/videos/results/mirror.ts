import { FilesFullError } from "../../files/quota.ts";
import { DownloadRefused } from "../../net/download.ts";
import { EgressError } from "../../net/egress_error.ts";
import type { JobHandler } from "../../store/job_runner.ts";
import type { Commit, CommitResult, Job } from "../../store/store.ts";
import { isDiskFailure } from "../../store/write_health.ts";
import { UpstreamFailure } from "../../upstreams/failure.ts";
import { CopyLanes, type CopyPermit, LONG_AFTER_MS } from "./copy_lanes.ts";
import { readCopyRef } from "./copy_ref.ts";
import { addKeptFiles, changeTask, readTask, settleJob, type TaskEntry } from "../tasks/records.ts";
import type { AddressRenewal } from "./renew_addresses.ts";
import { type MadeThing, madeThingsOf, MAX_RESULT_BYTES, openAtVendor, sourcesEndAt } from "./result_source.ts";
import { withStallLimit } from "./stall_limit.ts";
import type { VideoTask } from "../tasks/task.ts";
import { removeAnyCopies } from "./task_files.ts";
import type { VideoParts } from "../video_parts.ts";

/** For one copy: 4 GB at 0.6 MB a second. */
const COPY_MS = 7_200_000;
/** Without a byte. */
const STALL_MS = 30_000;
const MAX_WAIT_MS = 300_000;

/** How far an attempt came. */
interface Attempt {
  /** How many things, in their order, have a copy. */
  readonly done: number;
  /** Why the next one has none, in words for the log; null when all have one. */
  readonly reason: string | null;
  /** Whether the vendor would have to give something else. */
  readonly isHopeless: boolean;
}

/**
 * The job that copies results and extras into the file store, streaming. A copy that fails is made again for as long as
 * the vendor keeps what is copied, at an address that is asked for anew where the vendor gives one; then the copies
 * that are there stay, and the others are given up. Slow copies leave room for the others, see {@linkcode CopyLanes}.
 */
export function mirrorHandler(parts: VideoParts, renewal: AddressRenewal): JobHandler {
  const { store } = parts;
  const lanes = new CopyLanes();
  return async (job, { signal }) => {
    const { taskId, run } = readCopyRef(job.ref);
    const entry = await readTask(store, taskId);
    if (entry === null) await removeAnyCopies(parts.files, taskId);
    if (!entry?.value.mirroring || (entry.value.recopy?.run ?? 0) !== run) {
      return await store.commit(null, { completeJobs: [job] });
    }
    const permit = lanes.enter(laneOf(entry.value));
    if (permit === null) {
      const dueAt = lanes.comeBackAt(store.now());
      return await store.commit(null, { postponeJobs: [{ job, dueAt, attempt: job.attempt }] });
    }
    try {
      return await attempt(parts, await withLivingAddress(parts, entry, job, renewal), job, { signal, permit });
    } finally {
      permit.leave();
    }
  };
}

function laneOf({ account, stage }: VideoTask) {
  return { account, provider: stage.step === "waiting" ? "" : stage.provider };
}

/**
 * Asks for a new address before each attempt but the first, and where the vendor does not keep the old one any more.
 */
async function withLivingAddress(
  parts: VideoParts,
  entry: TaskEntry,
  job: Job,
  renewal: AddressRenewal,
): Promise<TaskEntry> {
  const isDead = sourcesEndAt(parts, entry.value) <= parts.store.now();
  return job.attempt === 0 && !isDead ? entry : await renewal.renew(entry) ?? entry;
}

async function attempt(
  parts: VideoParts,
  entry: TaskEntry,
  job: Job,
  { signal, permit }: { readonly signal: AbortSignal; readonly permit: CopyPermit },
): Promise<CommitResult> {
  const { store, clock, log, files } = parts;
  const { value: task } = entry;
  for (const name of task.inputs) await files.remove(name); // nobody needs them after the end
  const stopTimer = clock.after(LONG_AFTER_MS, () => permit.markLong());
  let made: Attempt;
  try {
    made = await copyAll(parts, task, signal);
  } finally {
    stopTimer();
  }
  if (made.reason === null) return await finish(parts, entry, job);
  log.warn("video_mirror_failed", { ref: task.id, attempt: job.attempt, reason: made.reason });
  const [now, endsAt] = [store.now(), sourcesEndAt(parts, task)];
  if (now >= endsAt) return await finish(parts, entry, job);
  const waitMs = Math.min(2 ** job.attempt * 2_000, MAX_WAIT_MS);
  const dueAt = made.isHopeless ? endsAt : Math.min(now + waitMs, endsAt);
  const postpone: Commit = { postponeJobs: [{ job, dueAt, attempt: job.attempt + 1 }] };
  const { recopy } = task;
  if (!recopy || recopy.done === made.done) return await store.commit(null, postpone);
  return await store.commit(null, changeTask(postpone, entry, { recopy: { ...recopy, done: made.done } }));
}

/** In order, until one fails. What an earlier attempt copied is not copied again. */
async function copyAll(parts: VideoParts, task: VideoTask, signal: AbortSignal): Promise<Attempt> {
  const things = madeThingsOf(task);
  for (const [index, thing] of things.entries()) {
    const isThere = task.recopy ? index < task.recopy.done : await parts.files.find(thing.name) !== null;
    if (isThere) continue;
    try {
      await copy(parts, task, thing, signal);
    } catch (error) {
      const reason = reasonOf(error);
      if (reason === null || signal.aborted) throw error;
      const isHopeless = error instanceof RangeError ||
        (error instanceof EgressError && (error.kind === "too_large" || error.kind === "refused"));
      return { done: index, reason, isHopeless };
    }
  }
  return { done: things.length, reason: null, isHopeless: false };
}

async function copy(
  parts: VideoParts,
  task: VideoTask,
  { name, result }: MadeThing,
  signal: AbortSignal,
): Promise<void> {
  const { files, clock, log } = parts;
  const opened = await openAtVendor(parts, task, result, { signal, timeoutMs: COPY_MS });
  const body = notEmpty(withStallLimit(opened.body, clock, STALL_MS));
  const options = { capBytes: MAX_RESULT_BYTES, keepsQuota: true, announcedBytes: opened.bytes };
  const bytes = await files.write(name, body, options);
  log.info("video_mirrored", { ref: task.id, bytes });
}

/** Throws {@linkcode DownloadRefused} at the end when there was no byte: an empty file must not replace a copy. */
async function* notEmpty(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let isEmpty = true;
  for await (const piece of source) {
    isEmpty &&= piece.length === 0;
    yield piece;
  }
  if (isEmpty) throw new DownloadRefused(204);
}

/** Ends the copying with the copies that are there. */
async function finish(parts: VideoParts, entry: TaskEntry, job: Job): Promise<CommitResult> {
  const { store, files, log } = parts;
  const { id, mirrors, extraMirrors = [] } = entry.value;
  const kept = new Set<string>();
  for (const { name } of madeThingsOf(entry.value)) if (await files.find(name) !== null) kept.add(name);
  const left = (names: readonly string[]) => names.filter((name) => kept.has(name));
  const now = store.now();
  const names = { mirrors: left(mirrors), extraMirrors: left(extraMirrors) };
  if (names.mirrors.length < mirrors.length) log.warn("video_mirror_given_up", { ref: id, count: kept.size });
  const change = { ...names, inputs: [], mirroring: false, copiedAt: kept.size > 0 ? now : undefined };
  const changed = settleJob(changeTask({}, entry, change), job);
  const result = await store.commit(null, kept.size > 0 ? addKeptFiles(changed, { id, copiedAt: now }) : changed);
  // The task was changed or removed meanwhile: looked at anew, at once.
  return result.ok ? result : await store.commit(null, { postponeJobs: [{ job, dueAt: now, attempt: job.attempt }] });
}

/** Why a copy failed, in words for the log; null for what neither the network nor the disk did. */
function reasonOf(error: unknown): string | null {
  if (error instanceof EgressError) return `${error.kind}: ${error.message}`;
  if (error instanceof UpstreamFailure) return `${error.kind}: ${error.message}`;
  if (error instanceof DownloadRefused || error instanceof RangeError || error instanceof FilesFullError) {
    return error.message;
  }
  return isDiskFailure(error) ? (error as Error).message : null;
}
