import type { VideoMode } from "../../lib/video_mode.ts";
import type { FileStore } from "../../files/files.ts";
import { GatewayError } from "../../lib/gateway_error.ts";
import { storeInputs } from "./inputs.ts";
import { planVideo, refuseUnreachable, type VideoCall } from "./plan.ts";
import type { TaskPrice } from "../tasks/task.ts";
import { newTaskId } from "../tasks/task_id.ts";
import type { VideoParts } from "../video_parts.ts";

/** Result of a dry run of a create request. */
export interface DryRunResult {
  /** Id of the model in the catalog. */
  readonly model: string;
  readonly mode: VideoMode;
  /** Candidates, the most likely first; at least one. */
  readonly providers: readonly string[];
  readonly price: TaskPrice;
  /** Fields that at least one candidate does not support. */
  readonly dropped: readonly string[];
  /** Whether the balance and the budgets cover the price; if not, media were not checked. */
  readonly balanceCovers: boolean;
}

/** A file store that accepts every write and stores nothing. */
const NOWHERE: Pick<FileStore, "write" | "remove"> = {
  write: () => Promise.resolve(0),
  remove: () => Promise.resolve(),
};

/**
 * Runs every check of a create request, media included, without a task, hold, file or vendor request.
 *
 * @throws {GatewayError} The errors of a create request except `insufficient_credits`.
 */
export async function dryRunVideo(parts: VideoParts, call: VideoCall): Promise<DryRunResult> {
  const plan = await planVideo(parts, call);
  const { accountId, memory } = call;
  const { request, price, assets, dropped } = plan;
  const balanceCovers = await isCovered(parts, call, price);
  if (balanceCovers) {
    const owner = { taskId: newTaskId(parts.store.now()), accountId, memory, assets };
    refuseUnreachable(parts, plan, await storeInputs({ ...parts, files: NOWHERE }, owner, request));
  }
  const providers = plan.candidates.map(({ provider }) => provider);
  return { model: plan.model.id, mode: plan.fitted.mode, providers, price, dropped, balanceCovers };
}

async function isCovered({ store, meter }: VideoParts, call: VideoCall, price: TaskPrice): Promise<boolean> {
  const { estimate, held } = price;
  if (estimate === 0n) return true;
  if (!held) {
    const { available, overdraft = 0n } = await store.balance(call.accountId);
    return available + overdraft > 0n;
  }
  try {
    (await meter.reserve(call, estimate)).release();
    return true;
  } catch (error) {
    if (error instanceof GatewayError && error.code === "insufficient_credits") return false;
    throw error;
  }
}
