import { pricePerSecondOf } from "../../../vendors/catalog/sections/media_sections.ts";
import { readRate } from "../../../platform/lib/basics/money.ts";
import type { FittedOrder, VideoModel } from "./order.ts";
import type { TaskPrice } from "../tasks/task.ts";
import { costOfSeconds } from "../tasks/measured_usage.ts";

/**
 * Returns the price of a video by the current catalog. If the vendor decides the duration, the maximum is priced.
 *
 * @param preauthorize Whether the estimate will be held.
 * @throws {RangeError} If the model has no price for it; validated catalogs always have one.
 */
export function priceOf({ video }: VideoModel, fitted: FittedOrder, preauthorize: boolean): TaskPrice {
  const second = pricePerSecondOf(video, fitted.pricedAs, fitted.withAudio);
  if (second === null) throw new RangeError(`Cannot price a video in ${fitted.pricedAs}`);
  const perSecond = readRate(second);
  const { mostSeconds } = video.duration;
  const { durationSeconds } = fitted.order;
  const isOpen = durationSeconds === null || durationSeconds === -1;
  const seconds = isOpen ? mostSeconds : durationSeconds;
  const estimate = costOfSeconds(seconds, perSecond);
  return { perSecond, seconds, estimate, held: preauthorize, mostSeconds, ...isOpen && { isOpen } };
}
