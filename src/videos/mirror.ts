import { sleep } from "../lib/clock.ts";
import { DownloadRefused, openDownload } from "../net/download.ts";
import { EgressError } from "../net/egress_error.ts";
import type { JobHandler } from "../store/jobs.ts";
import type { Job } from "../store/store.ts";
import { UpstreamFailure } from "../upstreams/failure.ts";
import type { VideoResult } from "../upstreams/video_upstream.ts";
import { addJob, changeTask, postponeJob, readTask, settleJob, type TaskEntry } from "./records.ts";
import type { VideoTask } from "./task.ts";
import { isTaskId } from "./task_id.ts";
import type { VideoParts } from "./video_parts.ts";

const LARGEST_RESULT_BYTES = 4_000_000_000;
const DOWNLOAD_MS = 600_000;
/** After that the vendor's own addresses are all there is. */
const MOST_ATTEMPTS = 8;
const LONGEST_WAIT_MS = 300_000;
/** How long somebody who opens a copy that is still on its way is kept waiting. */
const WAIT = { looks: 100, eachMs: 200 };

/**
 * The job that copies results into the file store, streaming, each at most once per attempt. The vendor's key goes only where
 * the adapter sends it. A copy that cannot be had in eight attempts is given up, and the task keeps the vendor's addresses.
 */
export function mirrorHandler(parts: VideoParts): JobHandler {
  const { store, log } = parts;
  return async (job) => {
    const entry = await readTask(store, job.ref);
    if (!entry || !entry.value.mirroring) return void await store.commit(null, { settle: [job] });
    const { value: task } = entry;
    try {
      for (const [index, result] of task.results.entries()) await copy(parts, task, result, task.mirrors[index]);
      for (const [index, { url }] of (task.extras ?? []).entries()) {
        await copy(parts, task, { url, needsCredential: false }, task.extraMirrors![index]);
      }
    } catch (error) {
      const reason = reasonOf(error);
      if (reason === null) throw error;
      log.warn("video_mirror_failed", { ref: task.id, attempt: job.attempt, reason });
      if (job.attempt + 1 < MOST_ATTEMPTS) {
        const waitMs = Math.min(2 ** job.attempt * 2_000, LONGEST_WAIT_MS);
        return await postponeJob(store, job, store.now() + waitMs, job.attempt + 1);
      }
      return await finish(parts, entry, job, []);
    }
    await finish(parts, entry, job, task.mirrors);
  };
}

/** Removes the files of a task: what its order referred to, and copies that were kept long enough. */
export function forgetHandler({ store, files }: VideoParts): JobHandler {
  return async (job) => {
    const entry = await readTask(store, job.ref);
    if (!entry) return void await store.commit(null, { settle: [job] });
    const { inputs, mirrors, extraMirrors = [] } = entry.value;
    for (const name of [...inputs, ...mirrors, ...extraMirrors]) await files.remove(name);
    const forgotten = changeTask({}, entry, { inputs: [], mirrors: [], extraMirrors: [] });
    const { ok } = await store.commit(null, settleJob(forgotten, job));
    if (!ok) await postponeJob(store, job, store.now(), job.attempt + 1);
  };
}

/**
 * Waits for a copy that is on its way.
 *
 * @returns Whether it may be there now; false at once for a name that no task has, or none waits for.
 */
export async function whenMirrored({ store, clock }: VideoParts, name: string): Promise<boolean> {
  const id = name.slice(0, 36);
  if (!isTaskId(id)) return false;
  for (let look = 0; look < WAIT.looks; look++) {
    const task = (await readTask(store, id))?.value;
    if (!task?.mirrors.includes(name)) return false;
    if (!task.mirroring) return true;
    await sleep(clock, WAIT.eachMs);
  }
  return true;
}

/** What is there already was copied by an attempt that broke off later. */
async function copy(parts: VideoParts, task: VideoTask, result: VideoResult, name: string): Promise<void> {
  if (await parts.files.find(name) !== null) return;
  const bytes = await parts.files.write(name, await sourceOf(parts, task, result), LARGEST_RESULT_BYTES);
  if (bytes > 0) return parts.log.info("video_mirrored", { ref: task.id, bytes });
  await parts.files.remove(name);
  throw new DownloadRefused(204);
}

async function sourceOf(parts: VideoParts, task: VideoTask, result: VideoResult): Promise<AsyncIterable<Uint8Array>> {
  const { stage } = task;
  if (result.url !== null && !result.needsCredential) return await publicSource(parts, result.url);
  const provider = stage.step === "submitted" ? stage.provider : "";
  const open = parts.upstreams.get(provider)?.open;
  if (!open || stage.step !== "submitted") {
    throw new UpstreamFailure(provider, "invalid", "cannot open its results", { status: null, accepted: "no" });
  }
  const opened = await open(result, stage.job);
  return "bytes" in opened ? opened.bytes : await publicSource(parts, opened.movedTo);
}

async function publicSource({ egress }: VideoParts, url: string): Promise<AsyncIterable<Uint8Array>> {
  return (await openDownload(url, { maxBytes: LARGEST_RESULT_BYTES, timeoutMs: DOWNLOAD_MS }, egress)).body;
}

async function finish(parts: VideoParts, entry: TaskEntry, job: Job, mirrors: readonly string[]): Promise<void> {
  const { store, files, settings } = parts;
  const { id, inputs } = entry.value;
  for (const name of inputs) await files.remove(name);
  const change = changeTask({}, entry, { mirrors, mirroring: false, inputs: [] });
  const dueAt = store.now() + settings.retentionMs;
  const { ok } = await store.commit(null, settleJob(addJob(change, "video_forget", id, dueAt), job));
  if (!ok) await postponeJob(store, job, store.now(), job.attempt + 1);
}

/** Why a copy failed, in words for the log; null for what is no failure of the network. */
function reasonOf(error: unknown): string | null {
  if (error instanceof EgressError) return `${error.kind}: ${error.message}`;
  if (error instanceof DownloadRefused || error instanceof RangeError) return error.message;
  return error instanceof UpstreamFailure ? `${error.kind}: ${error.message}` : null;
}
