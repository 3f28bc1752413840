import { costOf, secondTariff } from "../billing/tariff.ts";
import { secondPriceOf, type VideoResolution, type VideoSection } from "../catalog/media_sections.ts";
import { type Money, type Rate, readRate } from "../lib/money.ts";
import type { TaskPrice, TaskUsage } from "./task.ts";

/** A vendor's rounding of a length; beyond it, the vendor made another video than was asked for. */
const ROUNDING_SECONDS = 1;

/**
 * What a video will cost by the catalog of this moment.
 *
 * @param preauthorize Whether the estimate will be held.
 * @throws {RangeError} If the model has no price for it, which a catalog that was read never lacks.
 */
export function priceOf(
  video: VideoSection,
  resolution: VideoResolution,
  withAudio: boolean,
  seconds: number,
  preauthorize: boolean,
): TaskPrice {
  const second = secondPriceOf(video, resolution, withAudio);
  if (second === null) throw new RangeError(`Cannot price a video in ${resolution}`);
  const perSecond = readRate(second);
  return { perSecond, seconds, estimate: costOfSeconds(seconds, perSecond), held: preauthorize };
}

/**
 * What a finished video consumed: the vendor's own count of seconds where it has one and it differs by a second or more
 * from what was asked for, because vendors report 5.056 for what they sell as 5.
 *
 * @param reported Null when the vendor does not say.
 */
export function usageOf(price: TaskPrice, reported: number | null): TaskUsage {
  const isOther = reported !== null && Number.isFinite(reported) && reported >= 0 &&
    Math.abs(reported - price.seconds) >= ROUNDING_SECONDS;
  const seconds = isOther ? Math.round(reported * 1_000) / 1_000 : price.seconds;
  return { seconds, cost: costOfSeconds(seconds, price.perSecond) };
}

function costOfSeconds(seconds: number, perSecond: Rate): Money {
  return costOf({ video_second: seconds }, secondTariff(perSecond));
}
