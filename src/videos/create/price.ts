import { costOf, videoSecondTariff } from "../../billing/tariff.ts";
import { secondPriceOf } from "../../catalog/media_sections.ts";
import { type Money, type Rate, readMoney, readRate } from "../../lib/money.ts";
import type { FittedOrder, VideoModel } from "./order.ts";
import type { ReportedConsumption, TaskPrice, TaskUsage } from "../tasks/task.ts";

/** A vendor's rounding of a length; beyond it, the vendor made another video than was asked for. */
const ROUNDING_SECONDS = 1;

/**
 * What a video will cost by the catalog of this moment; the longest where the vendor decides how long it is.
 *
 * @param preauthorize Whether the estimate will be held.
 * @throws {RangeError} If the model has no price for it, which a catalog that was read never lacks.
 */
export function priceOf({ video }: VideoModel, fitted: FittedOrder, preauthorize: boolean): TaskPrice {
  const second = secondPriceOf(video, fitted.pricedAs, fitted.withAudio);
  if (second === null) throw new RangeError(`Cannot price a video in ${fitted.pricedAs}`);
  const perSecond = readRate(second);
  const { mostSeconds } = video.duration;
  const { durationSeconds } = fitted.order;
  const isOpen = durationSeconds === null || durationSeconds === -1;
  const seconds = isOpen ? mostSeconds : durationSeconds;
  const estimate = costOfSeconds(seconds, perSecond);
  return { perSecond, seconds, estimate, held: preauthorize, mostSeconds, ...isOpen && { isOpen } };
}

/** A video's consumption, and what is to be told of it. */
export interface MeasuredUsage extends TaskUsage {
  /** Seconds that cannot have been made, which were cut to the longest video; null when all may be true. */
  readonly implausibleSeconds: number | null;
}

/**
 * What a finished video consumed: the vendor's own count of seconds where it has one and it differs by a second or more
 * from what was asked for, because vendors report 5.056 for what they sell as 5. A vendor that reports a cost alone is
 * believed when that is above the price. Both count as far as the longest video of the model goes.
 */
export function usageOf(price: TaskPrice, reported: ReportedConsumption): MeasuredUsage {
  const { perSecond } = price;
  const mostSeconds = Math.max(price.mostSeconds ?? 0, price.seconds);
  const made = madeSeconds(price, reported.seconds);
  const seconds = Math.min(made ?? price.seconds, mostSeconds);
  const usual = costOfSeconds(seconds, perSecond);
  const told = made === null ? vendorCostOf(reported) ?? usual : usual;
  const most = costOfSeconds(mostSeconds, perSecond);
  const cost = told <= usual ? usual : told < most ? told : most;
  const isImplausible = made !== null && made >= mostSeconds + ROUNDING_SECONDS;
  return { seconds, cost, implausibleSeconds: isImplausible ? made : null };
}

/** What the vendor was paid, as it reports it; null when it does not. */
export function vendorCostOf({ costUsd }: ReportedConsumption): Money | null {
  const match = /^(\d{1,7})(?:\.(\d+))?$/.exec(costUsd ?? "");
  return match && readMoney(`${match[1]}.${(match[2] ?? "").slice(0, 10).padEnd(1, "0")}`);
}

/** The vendor's count where it counts as such; null for what was ordered. Nothing is no length: a video is there. */
function madeSeconds({ seconds, isOpen = false }: TaskPrice, reported: number | null): number | null {
  if (reported === null || !Number.isFinite(reported) || reported <= 0) return null;
  const isOther = isOpen || Math.abs(reported - seconds) >= ROUNDING_SECONDS;
  return isOther ? Math.round(reported * 1_000) / 1_000 : seconds;
}

function costOfSeconds(seconds: number, perSecond: Rate): Money {
  return costOf({ video_second: seconds }, videoSecondTariff(perSecond));
}
