import { addCharge } from "../billing/charge.ts";
import { captureHold, readHold, releaseHold } from "../billing/hold.ts";
import { writeMoney } from "../lib/money.ts";
import type { Commit, Job } from "../store/store.ts";
import { usageOf } from "./price.ts";
import { extraMirrorNamesOf, mirrorNamesOf } from "./mirror_names.ts";
import { addJob, changeTask, settleJob, type TaskEntry } from "./records.ts";
import type { TaskEnd, VideoTask } from "./task.ts";
import { taskObjectOf } from "./task_object.ts";
import type { VideoParts } from "./video_parts.ts";

/**
 * Ends a pending task in one commit: the status, its money, the job that found out, the jobs that follow and whatever else
 * joins by the seam. Nothing happens when the task is not as it was read any more.
 *
 * @param job The claimed job to settle along; null when a caller ends the task.
 * @returns The task as it is from now on; null when somebody else changed it first, or the job is another's.
 */
export async function endTask(
  parts: VideoParts,
  entry: TaskEntry,
  end: TaskEnd,
  job: Job | null,
): Promise<VideoTask | null> {
  const { store, log, onTerminal } = parts;
  const now = store.now();
  const payment = await payFor(parts, entry.value, end, now);
  if (payment === null) return null;
  const { commit: paid, usage } = payment;
  const change = { ...changeOf(entry.value, end), usage, updatedAt: now };
  const task: VideoTask = { ...entry.value, ...change };
  let commit = settleJob(changeTask(paid, entry, change), job);
  if (task.mirroring) commit = addJob(commit, "video_mirror", task.id, now);
  else if (task.inputs.length > 0) commit = addJob(commit, "video_forget", task.id, now);
  const result = await store.commit(
    null,
    onTerminal(commit, {
      taskId: task.id,
      account: task.account,
      status: end.status,
      callbackUrl: task.callbackUrl,
      endedAt: now,
      task: taskObjectOf(task, now, parts),
    }),
  );
  if (!result.ok) return null;
  log.info("video_ended", {
    ref: task.id,
    accountId: task.account,
    model: task.model,
    provider: task.stage.step === "waiting" ? undefined : task.stage.provider,
    state: task.status,
    code: task.error?.code,
    durationMs: now - task.createdAt,
    cost: usage ? writeMoney(usage.cost) : undefined,
  });
  return task;
}

function changeOf(task: VideoTask, end: TaskEnd): Partial<VideoTask> {
  const common = { status: end.status, order: null };
  if (end.status === "failed") return { ...common, error: { ...end.error, message: end.error.message.slice(0, 500) } };
  if (end.status !== "completed") return common;
  const { results, extras = [] } = end;
  const made = { ...common, results, mirrors: mirrorNamesOf(task.id, results), mirroring: true };
  return extras.length === 0 ? made : { ...made, extras, extraMirrors: extraMirrorNamesOf(task.id, extras) };
}

/** Captures, charges or releases; null when the hold has ended. What a video costs beyond its hold nobody pays: the price list was wrong, which is logged. */
async function payFor(
  { store, log }: VideoParts,
  task: VideoTask,
  end: TaskEnd,
  now: number,
): Promise<{ commit: Commit; usage: VideoTask["usage"] } | null> {
  const detail = { model: task.model, status: end.status };
  const hold = task.price.held ? await readHold(store, task.id) : null;
  if (hold && hold.state !== "open") return null; // the task was ended since it was read
  if (end.status !== "completed") return { commit: hold ? releaseHold({}, hold, now, detail) : {}, usage: null };
  const usage = usageOf(task.price, end.seconds);
  if (hold) {
    const { commit, captured, excess } = captureHold({}, hold, usage.cost, now, { ...detail, seconds: usage.seconds });
    if (excess > 0n) log.error("video_cost_above_hold", { ref: task.id, model: task.model, cost: writeMoney(excess) });
    return { commit, usage: { ...usage, cost: captured } };
  }
  if (usage.cost === 0n) return { commit: {}, usage };
  const provider = task.stage.step === "submitted" ? task.stage.provider : "";
  const row = { requestId: task.id, at: now, kind: "video", model: task.model, provider, amount: usage.cost } as const;
  return { commit: addCharge({}, { account: task.account, reference: task.id, rows: [row] }), usage };
}
