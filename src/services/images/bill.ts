import type { EndState, Settlement } from "../calls/settlement.ts";
import { NO_USAGE } from "../../conversation/neutral/usage.ts";
import type { ImageConsumption } from "../../vendors/upstreams/contract/image_upstream.ts";
import { NO_CONSUMPTION } from "../../vendors/upstreams/shared/images/image_reply.ts";
import { checkConsumption } from "./checked_consumption.ts";
import {
  consumptionMade,
  estimatedConsumption,
  type ImageMeasure,
  imageQuantitiesOf,
  type MadeImages,
} from "./consumption.ts";
import { type ChargedSvg, svgPart } from "./svg_usage.ts";

/** The billing data of an image request. */
export interface ImageBill {
  readonly settlement: Settlement;
  readonly measure: ImageMeasure;
}

/** The result of a request: its pictures, and the vendor's report; null if there is none. */
export interface BilledImages {
  readonly provider: string;
  readonly made: number;
  /** Size and quality of what was made; absent where nothing is known but the order. */
  readonly look?: MadeImages;
  readonly consumption: ImageConsumption | null;
  /** What the author of drawings consumed; null or absent for other file types. */
  readonly svg?: ChargedSvg | null;
  readonly state: EndState;
}

/**
 * The consumption to report and charge. Without a vendor report, the catalog's price per picture applies. If pictures
 * are priced by tokens only, the tokens are estimated.
 */
export function consumptionOf(
  bill: ImageBill,
  { consumption: reported, made, look }: Pick<BilledImages, "consumption" | "made" | "look">,
): ImageConsumption {
  const { settlement, measure } = bill;
  const consumption = reported === null ? null : checkConsumption(bill, reported, made).consumption;
  if (consumption !== null) return consumption;
  const { tariff } = settlement.facts.model;
  if (tariff.per_image > 0n) return NO_CONSUMPTION;
  return look ? consumptionMade(measure, look) : estimatedConsumption({ ...measure, count: made });
}

/** Charges an image request. Resolves when the charge is durable. A second call has no effect. */
export async function chargeImages(bill: ImageBill, work: BilledImages): Promise<void> {
  const { settlement, measure } = bill;
  const { provider, made, state, svg = null } = work;
  const consumption = consumptionOf(bill, work);
  logImplausible(bill, work);
  const { textTokens, imageTokens, cachedTokens, outputTokens, outputTextTokens } = consumption;
  const usage = {
    ...NO_USAGE,
    freshTokens: Math.max(0, textTokens + imageTokens - cachedTokens) + (svg?.usage.inputTokens ?? 0),
    cacheReadTokens: cachedTokens,
    outputTokens: outputTokens + (svg?.usage.outputTokens ?? 0),
    ...outputTextTokens > 0 || svg !== null ? { imageOutputTokens: outputTokens - outputTextTokens } : {},
    ...made > 0 ? { imagesMade: made } : {},
    ...work.consumption === null || svg?.isEstimated === true ? { estimated: true } : {},
  };
  const quantities = imageQuantitiesOf(consumption, { made, given: measure.given });
  const { tariff } = settlement.facts.model;
  const own = { quantities, tariff };
  const parts = svg === null ? [own] : [own, svgPart(svg.usage, svg.author)];
  await settlement.charge({ provider, state, parts, usage, images: made });
}

function logImplausible(bill: ImageBill, { provider, made, consumption }: BilledImages): void {
  const reason = consumption === null ? null : checkConsumption(bill, consumption, made).reason;
  if (reason === null) return;
  const { facts: { requestId, accountId, model }, parts: { log } } = bill.settlement;
  const { textTokens, imageTokens, outputTokens } = consumption!;
  const inputTokens = textTokens + imageTokens;
  log.warn("usage_implausible", { requestId, accountId, model: model.id, provider, reason, inputTokens, outputTokens });
}
