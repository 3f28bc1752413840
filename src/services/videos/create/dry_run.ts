import type { VideoMode } from "../../../vendors/video_mode.ts";
import type { FileStore } from "../../../platform/files/files.ts";
import type { Reservation } from "../../../money/billing/meter/meter.ts";
import { isAdmitted, type ProbedAdmission, probedAdmission } from "../../calls/dry_run.ts";
import { budgetExceeded } from "../../../money/limits/limit_refusal.ts";
import { costReasonOf, insufficientForVideo } from "./create.ts";
import { storeInputs } from "./inputs.ts";
import { planVideo, refuseUnreachable, type VideoCall } from "./plan.ts";
import type { TaskPrice } from "../tasks/task.ts";
import { newTaskId } from "../tasks/task_id.ts";
import type { VideoParts } from "../tasks/video_parts.ts";

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
  /** Whether the create would be admitted now. If not, media were not checked. */
  readonly admission: ProbedAdmission;
}

/** A file store that accepts every write, reads its source to the end, and stores nothing. */
const NOWHERE: Pick<FileStore, "write" | "remove"> = {
  async write(_, source) {
    let bytes = 0;
    for await (const { length } of source) bytes += length;
    return bytes;
  },
  remove: () => Promise.resolve(),
};

/**
 * Runs every check of a create request, media included, without a task, hold, file or vendor request.
 *
 * @throws {GatewayError} The errors of a create request, except for a refusal by the balance or a limit.
 */
export async function dryRunVideo(parts: VideoParts, call: VideoCall): Promise<DryRunResult> {
  const plan = await planVideo(parts, call);
  const { accountId, memory } = call;
  const { request, price, assets, files, dropped } = plan;
  const admission = await probedAdmission(() => probe(parts, call, price));
  if (isAdmitted(admission)) {
    const owner = { taskId: newTaskId(parts.store.now()), accountId, memory, assets, files };
    refuseUnreachable(parts, plan, await storeInputs({ ...parts, files: NOWHERE }, owner, request));
  }
  const providers = plan.candidates.map(({ provider }) => provider);
  return { model: plan.model.id, mode: plan.fitted.mode, providers, price, dropped, admission };
}

/** Checks what a create checks before its commit. */
async function probe({ store, meter }: VideoParts, call: VideoCall, price: TaskPrice): Promise<Reservation> {
  const { estimate, held } = price;
  if (estimate === 0n) return await meter.probe(call, null);
  if (held) return await meter.probe(call, estimate);
  const { available, overdraft = 0n } = await store.balance(call.accountId);
  if (available + overdraft <= 0n) throw insufficientForVideo(price);
  const { budget } = await meter.allowance(call);
  if (budget !== null && budget.left < estimate) throw budgetExceeded(budget, costReasonOf(price), undefined);
  return await meter.probe(call, null);
}
