import type { VideoMode } from "../../lib/video_mode.ts";
import type { FileStore } from "../../files/files.ts";
import { GatewayError } from "../../lib/gateway_error.ts";
import { keepInputs } from "./inputs.ts";
import { planVideo, refuseUnreachable, type VideoCall } from "./plan.ts";
import type { TaskPrice } from "../tasks/task.ts";
import { newTaskId } from "../tasks/task_id.ts";
import type { VideoParts } from "../video_parts.ts";

/** What a create would come to. */
export interface VideoTrial {
  /** The catalog's id of the model. */
  readonly model: string;
  readonly mode: VideoMode;
  /** Who may serve it, the likeliest first; at least one. */
  readonly providers: readonly string[];
  readonly price: TaskPrice;
  /** Fields that not every one of them is told. */
  readonly dropped: readonly string[];
  /** Whether the balance would hold; if not, media were not looked at. */
  readonly balanceCovers: boolean;
}

/** Takes what is written, and keeps nothing. */
const NOWHERE: Pick<FileStore, "write" | "remove"> = {
  write: () => Promise.resolve(0),
  remove: () => Promise.resolve(),
};

/**
 * Tries a create: every check of a real one, media included, without a task, a hold, a file or a word to a vendor.
 *
 * @throws {GatewayError} What a create would throw, `insufficient_credits` apart.
 */
export async function tryVideo(parts: VideoParts, call: VideoCall): Promise<VideoTrial> {
  const plan = await planVideo(parts, call);
  const { accountId, memory } = call;
  const { request, price, assets, dropped } = plan;
  const balanceCovers = await isCovered(parts, accountId, price);
  if (balanceCovers) {
    const owner = { taskId: newTaskId(parts.store.now()), accountId, memory, assets };
    refuseUnreachable(parts, plan, await keepInputs({ ...parts, files: NOWHERE }, owner, request));
  }
  const providers = plan.candidates.map(({ provider }) => provider);
  return { model: plan.model.id, mode: plan.fitted.mode, providers, price, dropped, balanceCovers };
}

async function isCovered({ store, meter }: VideoParts, account: string, price: TaskPrice): Promise<boolean> {
  const { estimate, held } = price;
  if (estimate === 0n) return true;
  if (!held) return (await store.balance(account)).available > 0n;
  try {
    (await meter.admit(account, estimate)).release();
    return true;
  } catch (error) {
    if (error instanceof GatewayError && error.code === "insufficient_credits") return false;
    throw error;
  }
}
