import { FilesUnavailableError } from "../../../platform/files/files.ts";
import { FilesFullError } from "../../../platform/files/quota.ts";
import { DownloadRefused } from "../../../platform/net/download.ts";
import { EgressError } from "../../../platform/net/egress_error.ts";
import { OnceFor } from "../../../platform/lib/collections/once_for.ts";
import type { JobHandler } from "../../../platform/store/job_runner.ts";
import type { Commit, CommitResult, Job } from "../../../platform/store/store.ts";
import { isDiskFailure } from "../../../platform/store/write_health.ts";
import { UpstreamFailure } from "../../../vendors/upstreams/call/failure.ts";
import { CopyLimiter, type CopyPermit, LONG_AFTER_MS } from "./copy_limiter.ts";
import { readCopyRef } from "./copy_ref.ts";
import { addCopiedTask, changeTask, completeJob, readTask, type TaskEntry } from "../tasks/records.ts";
import type { AddressRenewal } from "./renew_addresses.ts";
import {
  type GeneratedFile,
  generatedFilesOf,
  MAX_RESULT_BYTES,
  openAtVendor,
  originalsExpireAt,
} from "./result_source.ts";
import { withStallLimit } from "./stall_limit.ts";
import type { VideoTask } from "../tasks/task.ts";
import { judged, NoMediumError } from "./judged_result.ts";
import { removeAnyCopies } from "./task_files.ts";
import type { VideoParts } from "../tasks/video_parts.ts";
import { laterBy } from "../../../platform/store/store_time.ts";

/** Timeout of one copy: 4 GB at 0.6 MB per second. */
const COPY_MS = 7_200_000;
/** Maximum time without a byte. */
const STALL_MS = 30_000;
const MAX_WAIT_MS = 300_000;

/** The context of one attempt. */
interface CopyContext {
  readonly signal: AbortSignal;
  /** Providers whose unknown kind of file was logged. */
  readonly unknown: OnceFor;
}

/** Progress of one attempt. */
interface Attempt {
  /** Number of files, in their order, that have a copy. */
  readonly done: number;
  /** Why the next file has no copy, as a text for the log; null if all have one. */
  readonly reason: string | null;
  /** Whether a retry at the same address cannot succeed. */
  readonly isFinal: boolean;
}

/**
 * Creates the handler of jobs that stream results and extras into the file store. A failed copy is retried for as long
 * as the vendor retains the original, at a new address if the vendor issues one. After that, existing copies stay and
 * the others are abandoned. Slow copies leave room for others, see {@linkcode CopyLimiter}.
 */
export function mirrorHandler(parts: VideoParts, renewal: AddressRenewal): JobHandler {
  const { store } = parts;
  const lanes = new CopyLimiter();
  const unknown = new OnceFor();
  return async (job, { signal }) => {
    const { taskId, run } = readCopyRef(job.ref);
    const entry = await readTask(store, taskId);
    if (entry === null) await removeAnyCopies(parts.files, taskId);
    if (!entry?.value.mirroring || (entry.value.recopy?.run ?? 0) !== run) {
      return await store.commit(null, { completeJobs: [job] });
    }
    const permit = lanes.acquire(laneOf(entry.value));
    if (permit === null) {
      const dueAt = lanes.retryAt(store.now());
      return await store.commit(null, { postponeJobs: [{ job, dueAt, attempt: job.attempt }] });
    }
    try {
      return await runAttempt(parts, await withValidAddress(parts, entry, job, renewal), job, {
        signal,
        permit,
        unknown,
      });
    } finally {
      permit.release();
    }
  };
}

function laneOf({ account, stage }: VideoTask) {
  return { account, provider: stage.step === "waiting" ? "" : stage.provider };
}

/** Requests new addresses before each retry, and if the vendor no longer retains the old one. */
async function withValidAddress(
  parts: VideoParts,
  entry: TaskEntry,
  job: Job,
  renewal: AddressRenewal,
): Promise<TaskEntry> {
  const isDead = originalsExpireAt(parts, entry.value) <= parts.store.now();
  return job.attempt === 0 && !isDead ? entry : await renewal.renew(entry) ?? entry;
}

async function runAttempt(
  parts: VideoParts,
  entry: TaskEntry,
  job: Job,
  { signal, permit, unknown }: CopyContext & { readonly permit: CopyPermit },
): Promise<CommitResult> {
  const { store, clock, log, files } = parts;
  const { value: task } = entry;
  for (const name of task.inputs) await files.remove(name); // not needed after the end
  const stopTimer = clock.after(LONG_AFTER_MS, () => permit.markLong());
  let attempt: Attempt;
  try {
    attempt = await copyAll(parts, task, { signal, unknown });
  } finally {
    stopTimer();
  }
  if (attempt.reason === null) return await finish(parts, entry, job);
  log.warn("video_mirror_failed", { ref: task.id, attempt: job.attempt, reason: attempt.reason });
  const [now, endsAt] = [store.now(), originalsExpireAt(parts, task)];
  if (now >= endsAt) return await finish(parts, entry, job);
  const waitMs = Math.min(2 ** job.attempt * 2_000, MAX_WAIT_MS);
  const dueAt = laterBy(now, attempt.isFinal ? endsAt - now : Math.min(waitMs, endsAt - now));
  const postpone: Commit = { postponeJobs: [{ job, dueAt, attempt: job.attempt + 1 }] };
  const { recopy } = task;
  if (!recopy || recopy.done === attempt.done) return await store.commit(null, postpone);
  return await store.commit(null, changeTask(postpone, entry, { recopy: { ...recopy, done: attempt.done } }));
}

/** Copies in order until one fails. Files that an earlier attempt copied are skipped. */
async function copyAll(parts: VideoParts, task: VideoTask, context: CopyContext): Promise<Attempt> {
  const things = generatedFilesOf(task);
  for (const [index, thing] of things.entries()) {
    try {
      const isThere = task.recopy ? index < task.recopy.done : await parts.files.find(thing.name) !== null;
      if (isThere) continue;
      await copy(parts, task, thing, context);
    } catch (error) {
      const reason = reasonOf(error);
      if (reason === null || context.signal.aborted) throw error;
      const isFinal = error instanceof RangeError ||
        (error instanceof EgressError && (error.kind === "too_large" || error.kind === "refused"));
      return { done: index, reason, isFinal };
    }
  }
  return { done: things.length, reason: null, isFinal: false };
}

async function copy(
  parts: VideoParts,
  task: VideoTask,
  { name, result }: GeneratedFile,
  { signal, unknown }: CopyContext,
): Promise<void> {
  const { files, clock, log } = parts;
  const opened = await openAtVendor(parts, task, result, { signal, timeoutMs: COPY_MS });
  const { mediaType } = opened;
  const source = withStallLimit(opened.body, clock, STALL_MS);
  const { problem, isUnknown, body } = await judged(source, { declaredType: mediaType });
  if (problem !== null) throw new NoMediumError(problem);
  const { provider } = laneOf(task);
  if (isUnknown && unknown.isFirst(provider)) {
    log.warn("medium_unknown", { provider, reason: `declared as ${mediaType ?? "nothing"}` });
  }
  const options = { capBytes: MAX_RESULT_BYTES, keepsQuota: true, announcedBytes: opened.bytes };
  const bytes = await files.write(name, body, options);
  log.info("video_mirrored", { ref: task.id, bytes });
}

/** Completes the copying with the copies that exist. */
async function finish(parts: VideoParts, entry: TaskEntry, job: Job): Promise<CommitResult> {
  const { store, files, log } = parts;
  const { id, mirrors, extraMirrors = [] } = entry.value;
  const existing = new Set<string>();
  for (const { name } of generatedFilesOf(entry.value)) if (await files.find(name) !== null) existing.add(name);
  const left = (names: readonly string[]) => names.filter((name) => existing.has(name));
  const now = store.now();
  const names = { mirrors: left(mirrors), extraMirrors: left(extraMirrors) };
  if (names.mirrors.length < mirrors.length) log.warn("video_mirror_given_up", { ref: id, count: existing.size });
  const change = { ...names, inputs: [], mirroring: false, copiedAt: existing.size > 0 ? now : undefined };
  const changed = completeJob(changeTask({}, entry, change), job);
  const result = await store.commit(null, existing.size > 0 ? addCopiedTask(changed, { id, copiedAt: now }) : changed);
  // The task changed or was removed meanwhile: it is read again immediately.
  return result.ok ? result : await store.commit(null, { postponeJobs: [{ job, dueAt: now, attempt: job.attempt }] });
}

/** Returns why a copy failed, as a text for the log; null for errors of neither the network nor the disk. */
function reasonOf(error: unknown): string | null {
  if (error instanceof EgressError) return `${error.kind}: ${error.message}`;
  if (error instanceof UpstreamFailure) return `${error.kind}: ${error.message}`;
  if (error instanceof DownloadRefused || error instanceof RangeError) return error.message;
  if (error instanceof NoMediumError) return error.message;
  if (error instanceof FilesFullError || error instanceof FilesUnavailableError) return error.message;
  return isDiskFailure(error) ? (error as Error).message : null;
}
