import { addCharge } from "../../../money/billing/ledger/charge.ts";
import { captureHold, type Hold, readHold, releaseHold } from "../../../money/billing/hold.ts";
import type { Admission } from "../../../money/billing/meter/meter.ts";
import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import type { LogFields } from "../../../platform/lib/basics/log.ts";
import { type Money, writeMoney } from "../../../platform/lib/basics/money.ts";
import { providerNameOf } from "../../../platform/names/provider_name.ts";
import type { Commit } from "../../../platform/store/store.ts";
import { type MeasuredUsage, usageOf, vendorCostOf } from "./measured_usage.ts";
import type { TaskEnd, TaskUsage, VideoTask } from "./task.ts";
import type { VideoParts } from "./video_parts.ts";

/** The ledger changes of a task's end. */
export interface Payment {
  /** To be committed together with the end. */
  readonly commit: Commit;
  /** Null if nothing is charged. */
  readonly usage: TaskUsage | null;
  /** Must be called after the commit succeeded or failed. */
  readonly conclude: (isMade: boolean) => void;
}

type Completed = Extract<TaskEnd, { readonly status: "completed" }>;

/**
 * Captures, charges or releases the money of a task. A cost above the hold is charged up to the balance that open
 * requests have not reserved. A remainder is not charged and is logged as `underpriced`.
 *
 * @param now Unix milliseconds by the store's clock.
 * @returns Null if the hold has ended, and therefore the task too.
 */
export async function payFor(
  parts: VideoParts,
  task: VideoTask,
  end: TaskEnd,
  now: number,
): Promise<Payment | null> {
  const hold = task.price.held ? await readHold(parts.store, task.id) : null;
  if (hold && hold.state !== "open") return null;
  const payment = await paymentOf(parts, task, end, { hold, now });
  return {
    ...payment,
    conclude(isMade) {
      // What the budgets of the key and the account have left changed.
      if (hold !== null || payment.usage !== null) parts.meter.invalidate(task.account);
      payment.conclude(isMade);
    },
  };
}

async function paymentOf(
  parts: VideoParts,
  task: VideoTask,
  end: TaskEnd,
  { hold, now }: { readonly hold: Hold | null; readonly now: number },
): Promise<Payment> {
  if (end.status === "completed") return await payCompleted(parts, task, end, { hold, now });
  if (end.status !== "expired" && end.isCharged) return payEstimate(task, end, { hold, now });
  const commit = hold ? releaseHold({}, hold, now, detailOf(task, end)) : {};
  return { commit, usage: null, conclude: () => {} };
}

/** Charges the estimate for work that a vendor may have started, as the operator configured. */
function payEstimate(
  task: VideoTask,
  end: TaskEnd,
  { hold, now }: { readonly hold: Hold | null; readonly now: number },
): Payment {
  const { seconds, estimate: cost } = task.price;
  const commit = hold
    ? captureHold({}, hold, cost, now, { ...detailOf(task, end), seconds }).commit
    : chargeOf(task, cost, now);
  return { commit, usage: { seconds, cost }, conclude: () => {} };
}

async function payCompleted(
  parts: VideoParts,
  task: VideoTask,
  end: Completed,
  { hold, now }: { readonly hold: Hold | null; readonly now: number },
): Promise<Payment> {
  const measured = usageOf(task.price, end);
  const { seconds, cost } = measured;
  if (hold === null) {
    const conclude = (isMade: boolean) => isMade && logMeasured(parts, task, measured, end);
    return { commit: chargeOf(task, cost, now), usage: { seconds, cost }, conclude };
  }
  const extra = await reserveExtra(parts, task, cost - hold.amount);
  const detail = { ...detailOf(task, end), seconds };
  const { commit, captured, underpriced } = captureHold({}, hold, cost, now, detail, extra?.reserved.amount);
  return {
    commit,
    usage: { seconds, cost: captured },
    conclude(isMade) {
      extra?.release();
      if (!isMade) return;
      logMeasured(parts, task, measured, end);
      if (underpriced === 0n) return;
      const reason = "the hold and the balance do not cover the cost";
      parts.log.error("underpriced", { ...factsOf(task), cost: writeMoney(underpriced), reason });
    },
  };
}

function chargeOf(task: VideoTask, amount: Money, at: number): Commit {
  if (amount === 0n) return {};
  const { id: requestId, account, keyId, model } = task;
  const row = { requestId, keyId, at, kind: "video", model, provider: providerOf(task) ?? "", amount } as const;
  return addCharge({}, { account, reference: requestId, rows: [row] });
}

/** The facts of a capture or a release for the ledger. */
function detailOf(task: VideoTask, { status }: TaskEnd): Readonly<Record<string, string>> {
  const { keyId: key, model, line } = task;
  const provider = providerOf(task);
  const ofLine = line && { batch: line.batch, custom_id: line.customId };
  return { key, model, ...(provider !== undefined && { provider }), status, ...ofLine };
}

/** Reserves as much of an amount as the current balance allows; null if it allows nothing. */
async function reserveExtra(
  { meter }: VideoParts,
  { account, keyId }: VideoTask,
  wanted: Money,
): Promise<Admission | null> {
  if (wanted <= 0n) return null;
  meter.invalidate(account);
  try {
    return await meter.reserve({ accountId: account, keyId, limits: null }, (spendable) => {
      const amount = spendable < wanted ? spendable : wanted;
      return { amount: amount > 0n ? amount : 0n, outputLimit: null };
    });
  } catch (error) {
    if (error instanceof GatewayError && error.code === "insufficient_credits") return null;
    throw error;
  }
}

/** Logs an implausible report, and a vendor cost above the model's price. */
function logMeasured({ log }: VideoParts, task: VideoTask, measured: MeasuredUsage, end: Completed): void {
  const { implausibleSeconds, cost } = measured;
  if (implausibleSeconds !== null) {
    log.warn("usage_implausible", { ...factsOf(task), reason: `the provider reported ${implausibleSeconds} seconds` });
  }
  const paid = vendorCostOf(end);
  if (paid === null || paid <= cost) return;
  const reason = "the provider's cost is above the model's price";
  log.warn("underpriced", { ...factsOf(task), cost: writeMoney(paid - cost), reason });
}

function factsOf(task: VideoTask): LogFields {
  return { ref: task.id, accountId: task.account, model: task.model, provider: providerOf(task) };
}

function providerOf({ stage }: VideoTask): string | undefined {
  return stage.step === "waiting" ? undefined : providerNameOf(stage.provider);
}
