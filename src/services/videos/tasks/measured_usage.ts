import { costOf, videoSecondTariff } from "../../../money/billing/prices/tariff.ts";
import { type Money, type Rate, readMoney } from "../../../platform/lib/basics/money.ts";
import type { ReportedConsumption, TaskPrice, TaskUsage } from "./task.ts";

/**
 * Rounding tolerance of a vendor's duration; a larger difference means that a video of another duration was generated.
 */
const ROUNDING_SECONDS = 1;

/** Measured consumption of a video, with warnings. */
export interface MeasuredUsage extends TaskUsage {
  /** A reported duration that is impossible and was capped at the model's maximum; null if the report is plausible. */
  readonly implausibleSeconds: number | null;
}

/**
 * Returns what a completed video consumed. The vendor's duration applies if it differs from the request by a second or
 * more, because vendors report 5.056 for what they sell as 5. If a vendor reports only a cost, it applies if it is
 * above the price. Both are capped at the maximum duration of the model.
 */
export function usageOf(price: TaskPrice, reported: ReportedConsumption): MeasuredUsage {
  const { perSecond } = price;
  const mostSeconds = Math.max(price.mostSeconds ?? 0, price.seconds);
  const measured = measuredSeconds(price, reported.seconds);
  const seconds = Math.min(measured ?? price.seconds, mostSeconds);
  const cataloged = costOfSeconds(seconds, perSecond);
  const reportedCost = measured === null ? vendorCostOf(reported) ?? cataloged : cataloged;
  const max = costOfSeconds(mostSeconds, perSecond);
  const cost = reportedCost <= cataloged ? cataloged : reportedCost < max ? reportedCost : max;
  const isImplausible = measured !== null && measured >= mostSeconds + ROUNDING_SECONDS;
  return { seconds, cost, implausibleSeconds: isImplausible ? measured : null };
}

/** Returns the vendor's cost as reported by the vendor; null if it reports none. */
export function vendorCostOf({ costUsd }: ReportedConsumption): Money | null {
  const match = /^(\d{1,7})(?:\.(\d+))?$/.exec(costUsd ?? "");
  return match && readMoney(`${match[1]}.${(match[2] ?? "").slice(0, 10).padEnd(1, "0")}`);
}

/**
 * Returns the vendor's duration if it differs enough, else null for the requested duration. Zero is ignored, because a
 * video exists.
 */
function measuredSeconds({ seconds, isOpen = false }: TaskPrice, reported: number | null): number | null {
  if (reported === null || !Number.isFinite(reported) || reported <= 0) return null;
  const isOther = isOpen || Math.abs(reported - seconds) >= ROUNDING_SECONDS;
  return isOther ? Math.round(reported * 1_000) / 1_000 : seconds;
}

/** The cost of a duration. */
export function costOfSeconds(seconds: number, perSecond: Rate): Money {
  return costOf({ video_second: seconds }, videoSecondTariff(perSecond));
}
