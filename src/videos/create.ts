import { addHold } from "../billing/hold.ts";
import type { Admission } from "../billing/meter.ts";
import { GatewayError, invalidField } from "../lib/gateway_error.ts";
import type { MemoryLease } from "../lib/memory_budget.ts";
import { writeMoney } from "../lib/money.ts";
import { EgressError } from "../net/egress_error.ts";
import { checkTarget } from "../net/target.ts";
import { usableCandidates } from "../routing/candidates.ts";
import { resolvePin } from "../routing/pin.ts";
import { IDEMPOTENCY_MS, KeyTakenError } from "./idempotency.ts";
import { dropInputs, keepInputs, type KeptInputs } from "./inputs.ts";
import { formFor, isPublicBase } from "./media_publishing.ts";
import { fitOrder, type FittedOrder, type VideoModel, videoModel } from "./order.ts";
import { priceOf } from "./price.ts";
import { optionsByProvider } from "./provider_options.ts";
import { addIdempotency, addTask, type IdempotencyRecord } from "./records.ts";
import { videoRefusal } from "./refusal.ts";
import { readVideoRequest, type VideoRequest } from "./request.ts";
import type { ProviderOptions, TaskMedia, TaskPrice, VideoTask } from "./task.ts";
import { newTaskId } from "./task_id.ts";
import { vendorAssetsOf } from "./vendor_assets.ts";
import type { VideoParts } from "./video_parts.ts";

/** Who creates a video, and what was sent. */
export interface VideoCall {
  readonly keyId: string;
  readonly accountId: string;
  /** The JSON body. */
  readonly body: { readonly [key: string]: unknown };
  /** Pays for what is read for the video. Default: nobody counts. */
  readonly memory?: MemoryLease;
}

/** The `Idempotency-Key` of a create. */
export interface CreateKey extends Pick<IdempotencyRecord, "bodyHash"> {
  readonly key: string;
}

/**
 * Creates a task: all that can be refused is refused first, then the task, its hold, its idempotency key and the job that
 * hands it to a vendor are one commit.
 *
 * @returns The task's id.
 * @throws {GatewayError} As SPEC "Errors" says; nothing is then stored, held or sent.
 * @throws {KeyTakenError} If another create with the key was first.
 */
export async function createVideo(parts: VideoParts, call: VideoCall, key: CreateKey | null): Promise<string> {
  const request = readVideoRequest(call.body);
  const model = videoModel(parts.catalog, request.model);
  const namedPin = resolvePin(null, request.pin, model.id, model.serves, parts.isProvider);
  const assets = vendorAssetsOf(parts, request, model, namedPin);
  const { pin } = assets;
  const fitted = fitOrder(request, model);
  const options = ownOptions(parts, request, model, pin);
  refusePromptOptions(parts, request.prompt, model, pin);
  await refuseCallback(parts, request.callbackUrl);
  refuseMisconfigured(parts, model, pin, call.accountId);
  const price = priceOf(model, fitted, parts.settings.preauthorize);
  await parts.writability?.check();
  const hasInputs = request.firstFrame !== null || request.references.length > 0;
  if (hasInputs || !price.held) await refuseUnaffordable(parts, call.accountId, price);
  const id = newTaskId(parts.store.now());
  const inputs = await keepInputs(parts, {
    taskId: id,
    accountId: call.accountId,
    memory: call.memory,
    assets: assets.urls,
  }, request);
  try {
    refuseUnreachable(parts, model, pin, inputs);
    const task = newTask(parts, call, { id, request, model, pin, fitted, options, inputs, price });
    await commitTask(parts, task, key);
    const { accountId, keyId } = call;
    parts.log.info("video_created", { ref: id, accountId, keyId, model: model.id, cost: writeMoney(price.estimate) });
    return id;
  } catch (error) {
    await dropInputs(parts, inputs.names);
    throw error;
  }
}

/** Throws `upstream_auth_failed` when all providers to which the task could be offered reject the gateway's credential. */
function refuseMisconfigured(parts: VideoParts, model: VideoModel, pin: string | null, accountId: string): void {
  const able = model.serves.filter(({ provider }) => parts.upstreams.has(provider) && (pin ?? provider) === provider);
  usableCandidates(able, { breaker: parts.breaker, accountId });
}

function ownOptions(
  { isProvider, upstreams }: VideoParts,
  { options }: VideoRequest,
  { id, serves }: VideoModel,
  pin: string | null,
): ProviderOptions {
  const serving = serves.map(({ provider }) => provider);
  return optionsByProvider(options, { model: id, serving, pin, isProvider, upstreams });
}

/** Throws when a vendor that may be asked would read an option in the prompt, as that would stand outside the price. */
function refusePromptOptions({ upstreams }: VideoParts, prompt: string, model: VideoModel, pin: string | null): void {
  for (const { provider } of model.serves) {
    const option = (pin ?? provider) === provider ? upstreams.get(provider)?.optionInPrompt?.(prompt) : null;
    if (!option) continue;
    throw invalidField("prompt", `"${option}" is an option to the provider; use the field of the request in its place`);
  }
}

async function refuseCallback({ egress }: VideoParts, url: string | null): Promise<void> {
  if (url === null) return;
  try {
    await checkTarget(url, ["https:"], egress);
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    throw videoRefusal("invalid_callback_url", `Cannot use "callback_url": ${error.message}`, "callback_url");
  }
}

/** Before references are fetched for it. Of a hold the commit decides, without one nothing else would. */
async function refuseUnaffordable({ store }: VideoParts, account: string, price: TaskPrice): Promise<void> {
  if (price.estimate === 0n) return;
  const { available } = await store.balance(account);
  if (price.held ? available < price.estimate : available <= 0n) throw insufficient(price);
}

function insufficient({ estimate, held }: TaskPrice): GatewayError {
  const needed = held ? `the estimate is ${writeMoney(estimate)} USD` : "the balance is used up";
  return new GatewayError(
    "insufficient_credits",
    `Cannot accept the video: ${needed}, which the balance does not cover`,
  );
}

/** Some provider must make videos, and get every reference in a form that it takes. */
function refuseUnreachable(parts: VideoParts, model: VideoModel, pin: string | null, { media }: KeptInputs): void {
  const names = model.serves.map(({ provider }) => provider).filter((name) => pin === null || name === pin);
  const upstreams = names.flatMap((name) => parts.upstreams.get(name) ?? []);
  if (upstreams.length === 0) throw new GatewayError("route_error", `No provider makes videos with "${model.id}"`);
  const all = [media.firstFrame, media.lastFrame, ...media.references].filter((each): each is TaskMedia =>
    each !== null
  );
  if (all.length === 0) return;
  const isPublic = isPublicBase(parts);
  const stuck = upstreams.map(({ mediaForms }) => all.find((each) => formFor(each, mediaForms, isPublic) === null));
  const [first] = stuck;
  if (first === undefined || stuck.includes(undefined)) return;
  const how = first.at === "file" ? "as an address, as the provider takes no data" : "as data: URI";
  throw new GatewayError(
    "invalid_request",
    `Cannot hand over a reference of type ${first.medium}_url: expected it ${how}`,
  );
}

interface NewTask {
  readonly id: string;
  readonly request: VideoRequest;
  readonly model: VideoModel;
  readonly pin: string | null;
  readonly fitted: FittedOrder;
  readonly options: ProviderOptions;
  readonly inputs: KeptInputs;
  readonly price: TaskPrice;
}

function newTask(
  { store, settings }: VideoParts,
  { keyId, accountId }: VideoCall,
  { id, request, model, pin, fitted, options, inputs, price }: NewTask,
): VideoTask {
  const now = store.now();
  return {
    id,
    account: accountId,
    keyId,
    model: model.id,
    modelName: request.model,
    prompt: request.prompt,
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
 * Makes the task durable. Its hold is also a reservation until the balance is read anew, so that neither takes what the
 * account's open calls have reserved.
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
    commit = addHold(commit, { account, reference, amount: price.estimate, detail: { model } }, store.now());
  }
  if (key !== null) {
    const record = { bodyHash: key.bodyHash, taskId: task.id };
    commit = addIdempotency(commit, task.keyId, key.key, record, IDEMPOTENCY_MS);
  }
  const result = await store.commit(null, commit);
  if (result.ok) return;
  if (result.why === "short") throw insufficient(price);
  // The ids are new: only the idempotency key can stand already.
  if (result.why === "conflict" && key !== null) throw new KeyTakenError("The key was used first by another");
  throw new GatewayError("internal_error", "Cannot store the task", { cause: result.why });
}
