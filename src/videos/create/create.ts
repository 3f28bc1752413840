import { addHold } from "../../billing/hold.ts";
import type { Admission } from "../../billing/meter.ts";
import { GatewayError } from "../../lib/gateway_error.ts";
import { writeMoney } from "../../lib/money.ts";
import { IDEMPOTENCY_MS, KeyTakenError } from "./idempotency.ts";
import { removeInputs, type StoredInputs, storeInputs } from "./inputs.ts";
import { planVideo, refuseUnreachable, type VideoCall, type VideoPlan } from "./plan.ts";
import { addIdempotency, addTask, type IdempotencyRecord } from "../tasks/records.ts";
import type { TaskPrice, VideoTask } from "../tasks/task.ts";
import { newTaskId } from "../tasks/task_id.ts";
import { refuseOversized } from "./task_size.ts";
import type { VideoParts } from "../video_parts.ts";

/** The `Idempotency-Key` of a create request. */
export interface CreateKey extends Pick<IdempotencyRecord, "bodyHash"> {
  readonly key: string;
}

/**
 * Creates a task. All checks come first. Then one commit stores the task, its hold, its idempotency key and the job
 * that submits it to a vendor.
 *
 * @returns The task as stored.
 * @throws {GatewayError} As listed in docs/api/videos.md#create; then nothing is stored, held or sent.
 * @throws {KeyTakenError} If another create request with the key was first.
 */
export async function createVideo(parts: VideoParts, call: VideoCall, key: CreateKey | null): Promise<VideoTask> {
  const plan = await planVideo(parts, call);
  const { request, price, assets } = plan;
  const { accountId, keyId, memory } = call;
  await parts.writeGuard?.check();
  const hasInputs = request.firstFrame !== null || request.references.length > 0;
  if (hasInputs || !price.held) await refuseUnaffordable(parts, accountId, price);
  const id = newTaskId(parts.store.now());
  const inputs = await storeInputs(parts, { taskId: id, accountId, memory, assets }, request);
  try {
    refuseUnreachable(parts, plan, inputs);
    const task = newTask(parts, call, { id, plan, inputs });
    refuseOversized(task, parts.store.limits);
    await commitTask(parts, task, key);
    parts.log.info("video_created", { ref: id, accountId, keyId, model: task.model, cost: writeMoney(price.estimate) });
    return task;
  } catch (error) {
    await removeInputs(parts, inputs.names);
    throw error;
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
  if (price.held ? credit < price.estimate : credit <= 0n) throw insufficient(price);
}

function insufficient({ estimate, held }: TaskPrice): GatewayError {
  const reason = held ? `the estimate of ${writeMoney(estimate)} USD exceeds the balance` : "the balance is used up";
  return new GatewayError("insufficient_credits", `Cannot accept the video: ${reason}`);
}

interface NewTask {
  readonly id: string;
  readonly plan: VideoPlan;
  readonly inputs: StoredInputs;
}

function newTask(
  { store, settings }: VideoParts,
  { keyId, accountId }: VideoCall,
  { id, plan, inputs }: NewTask,
): VideoTask {
  const { request, model, pin, fitted, options, price, dropped } = plan;
  const now = store.now();
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
 * Stores the task. The hold stays reserved in memory until the balance is read again, so it cannot use what the
 * account's open requests have reserved.
 */
async function commitTask(parts: VideoParts, task: VideoTask, key: CreateKey | null): Promise<void> {
  const { meter } = parts;
  const { account, price } = task;
  if (!price.held || price.estimate === 0n) return await commitNew(parts, task, key);
  const admission = await reserved(parts, account, price);
  try {
    await commitNew(parts, task, key);
  } finally {
    meter.invalidate(account);
    admission.release();
  }
}

async function reserved({ meter }: VideoParts, account: string, price: TaskPrice): Promise<Admission> {
  try {
    return await meter.admit(account, price.estimate);
  } catch (error) {
    if (error instanceof GatewayError && error.code === "insufficient_credits") throw insufficient(price);
    throw error;
  }
}

async function commitNew({ store }: VideoParts, task: VideoTask, key: CreateKey | null): Promise<void> {
  let commit = addTask({}, task);
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
  if (result.why === "short") throw insufficient(price);
  // The ids are new, so only the idempotency key can exist already.
  if (result.why === "conflict" && key !== null) throw new KeyTakenError("Another request used the key first");
  throw new GatewayError("internal_error", "Cannot store the task", { cause: result.why });
}
