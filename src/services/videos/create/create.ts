import { addHold } from "../../../money/billing/hold.ts";
import { type Admission, InsufficientCredits, type Meter } from "../../../money/billing/meter/meter.ts";
import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import type { Commit } from "../../../platform/store/store.ts";
import { budgetExceeded } from "../../../money/limits/limit_refusal.ts";
import { type Money, writeMoney } from "../../../platform/lib/basics/money.ts";
import { IDEMPOTENCY_MS } from "../../../platform/http/request/idempotency_key.ts";
import { type CreateKey, KeyTakenError } from "./idempotency.ts";
import { removeInputs, type StoredInputs, storeInputs } from "./inputs.ts";
import { planVideo, refuseUnreachable, type VideoCall, type VideoPlan } from "./plan.ts";
import { addIdempotency, addTask } from "../tasks/records.ts";
import type { TaskLine, TaskPrice, VideoTask } from "../tasks/task.ts";
import { newTaskId } from "../tasks/task_id.ts";
import { refuseOversized } from "./task_size.ts";
import type { VideoParts } from "../tasks/video_parts.ts";

/** A create request whose key, or whose work, decides how the task is stored. */
export interface TaskOrigin {
  /** Null if none was sent. */
  readonly key: CreateKey | null;
  /** Null for a task by itself. */
  readonly work: TaskWork | null;
}

/** Other work that a task is a part of. That work has the task's money already. */
export interface TaskWork {
  /** Admits the task within the money of the work. */
  readonly meter: Pick<Meter, "admit" | "admitFree">;
  /** The latest end of the task, in Unix milliseconds. */
  readonly deadlineAt: number;
  readonly line: TaskLine;
  /** Commits the task with its hold, which comes out of the money of the work. False: the work takes no task. */
  readonly add: (task: AddedTask) => Promise<boolean>;
}

/** A task that is added to other work. */
export interface AddedTask {
  readonly id: string;
  /** What its hold needs. */
  readonly amount: Money;
  /** The task without its hold. */
  readonly commit: Commit;
}

/** The work takes no task. */
export class TaskNotTakenError extends Error {
  override readonly name = "TaskNotTakenError";
}

/**
 * Creates a task. All checks come first. Then one commit stores the task, its hold, its idempotency key and the job
 * that submits it to a vendor.
 *
 * @returns The task as stored.
 * @throws {GatewayError} As listed in docs/api/videos.md#create; then nothing is stored, held or sent.
 * @throws {KeyTakenError} If another create request with the key was first.
 * @throws {TaskNotTakenError} If the work takes no task.
 */
export async function createVideo(
  parts: VideoParts,
  call: VideoCall,
  { key, work }: TaskOrigin,
): Promise<VideoTask> {
  const plan = await planVideo(parts, call);
  const { request, price, assets, files } = plan;
  const { accountId, keyId, memory } = call;
  await parts.writeGuard?.check();
  const hasInputs = request.firstFrame !== null || request.references.length > 0;
  if (work === null && (hasInputs || !price.held)) await refuseUnaffordable(parts, accountId, price);
  const admission = work === null ? await admitted(parts, call, price) : await admittedWithin(work, call, price);
  try {
    const id = newTaskId(parts.store.now());
    const inputs = await storeInputs(parts, { taskId: id, accountId, memory, assets, files }, request);
    try {
      refuseUnreachable(parts, plan, inputs);
      const task = withWork(newTask(parts, call, { id, plan, inputs }), work);
      refuseOversized(task, parts.store.limits);
      if (work === null) await commitTask(parts, task, key);
      else await addToWork(parts, task, work);
      const cost = writeMoney(price.estimate);
      parts.log.info("video_created", { ref: id, accountId, keyId, model: task.model, cost });
      return task;
    } catch (error) {
      await removeInputs(parts, inputs.names);
      throw error;
    }
  } finally {
    admission.release();
  }
}

/**
 * Rejects before references are fetched. The commit checks the balance again for a hold; without a hold this is the
 * only check.
 */
async function refuseUnaffordable({ store }: VideoParts, account: string, price: TaskPrice): Promise<void> {
  if (price.estimate === 0n) return;
  const { available, overdraft = 0n } = await store.balance(account);
  const credit = available + overdraft;
  if (price.held ? credit < price.estimate : credit <= 0n) throw insufficientForVideo(price);
}

/** What a video may cost, for a refusal by a budget. */
export function costReasonOf({ estimate }: TaskPrice): string {
  return `it may cost up to ${writeMoney(estimate)} USD`;
}

/** A 402 for a video that the balance does not cover. */
export function insufficientForVideo({ estimate, held }: TaskPrice): GatewayError {
  const reason = held ? `the estimate of ${writeMoney(estimate)} USD exceeds the balance` : "the balance is used up";
  return new GatewayError("insufficient_credits", `Cannot accept the video: ${reason}`);
}

interface NewTask {
  readonly id: string;
  readonly plan: VideoPlan;
  readonly inputs: StoredInputs;
}

function newTask(
  { store, settings, catalog }: VideoParts,
  { keyId, accountId, receivedAt }: VideoCall,
  { id, plan, inputs }: NewTask,
): VideoTask {
  const { request, model, pin, fitted, options, price, dropped } = plan;
  const now = store.now();
  const isRestricted = model.serves.length !== catalog.at(receivedAt).find(model.id)?.serves.length;
  return {
    id,
    account: accountId,
    keyId,
    model: model.id,
    modelName: request.model,
    prompt: request.prompt,
    ...(dropped.length > 0 ? { dropped } : {}),
    ...(request.metadata ? { metadata: request.metadata } : {}),
    ...(request.size ? { size: `${request.size.width}x${request.size.height}` } : {}),
    mode: fitted.mode,
    status: "pending",
    createdAt: now,
    updatedAt: now,
    deadlineAt: now + settings.deadlineMs,
    callbackUrl: request.callbackUrl,
    pin,
    ...isRestricted && { providers: model.serves.map(({ provider }) => provider) },
    order: { ...fitted.order, ...inputs.media, optionsByProvider: options },
    inputs: inputs.names,
    stage: { step: "waiting" },
    offers: 0,
    price,
    results: [],
    mirrors: [],
    mirroring: false,
    usage: null,
    error: null,
  };
}

/**
 * Takes the request from the limits of its key and reserves its hold. The hold stays reserved in memory until the
 * balance is read again, so it cannot use what the account's open requests have reserved. Without a hold the estimate
 * must fit into the budgets at the time of the create, and nothing is reserved.
 */
async function admitted({ meter }: VideoParts, call: VideoCall, price: TaskPrice): Promise<Admission> {
  const { estimate, held } = price;
  if (estimate === 0n) return await meter.admitFree(call);
  if (!held) {
    const { budget } = await meter.allowance(call);
    if (budget !== null && budget.left < estimate) throw budgetExceeded(budget, costReasonOf(price), undefined);
    return await meter.admitFree(call);
  }
  try {
    return await meter.admit(call, estimate);
  } catch (error) {
    if (error instanceof InsufficientCredits) throw insufficientForVideo(price);
    throw error;
  }
}

/** The money of work is held already, whatever the operator decided for other tasks. */
function withWork(task: VideoTask, work: TaskWork | null): VideoTask {
  if (work === null) return task;
  const deadlineAt = Math.min(task.deadlineAt, work.deadlineAt);
  return { ...task, line: work.line, deadlineAt, price: { ...task.price, held: true } };
}

async function admittedWithin({ meter }: TaskWork, call: VideoCall, { estimate }: TaskPrice): Promise<Admission> {
  return estimate === 0n ? await meter.admitFree(call) : await meter.admit(call, estimate);
}

async function addToWork({ store }: VideoParts, task: VideoTask, work: TaskWork): Promise<void> {
  const { id, price: { estimate: amount } } = task;
  const isTaken = await work.add({ id, amount, commit: addTask({}, task, store.now()) });
  if (!isTaken) throw new TaskNotTakenError("The work takes no task");
}

/** Stores the task. Its hold changes the balance. */
async function commitTask(parts: VideoParts, task: VideoTask, key: CreateKey | null): Promise<void> {
  try {
    await commitNew(parts, task, key);
  } finally {
    if (task.price.held && task.price.estimate > 0n) parts.meter.invalidate(task.account);
  }
}

async function commitNew({ store }: VideoParts, task: VideoTask, key: CreateKey | null): Promise<void> {
  let commit = addTask({}, task, store.now());
  const { account, id: reference, model, price } = task;
  if (price.held) {
    commit = addHold(
      commit,
      { account, reference, amount: price.estimate, detail: { key: task.keyId, model } },
      store.now(),
    );
  }
  if (key !== null) {
    const record = { bodyHash: key.bodyHash, taskId: task.id };
    commit = addIdempotency(commit, task.keyId, key.key, record, IDEMPOTENCY_MS);
  }
  const result = await store.commit(null, commit);
  if (result.ok) return;
  if (result.why === "short") throw insufficientForVideo(price);
  // The ids are new, so only the idempotency key can exist already.
  if (result.why === "conflict" && key !== null) throw new KeyTakenError("Another request used the key first");
  throw new GatewayError("internal_error", "Cannot store the task", { cause: result.why });
}
