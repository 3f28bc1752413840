import { checkUsage } from "../calls/plausible_usage.ts";
import type { Settlement } from "../calls/settlement.ts";
import { NO_USAGE } from "../../conversation/neutral/usage.ts";
import type { ImageConsumption } from "../../vendors/upstreams/contract/image_upstream.ts";
import type { ImageMeasure } from "./consumption.ts";

/** The checked consumption of a vendor's report. */
export interface CheckedConsumption {
  /** Null if nothing of it can be charged. */
  readonly consumption: ImageConsumption | null;
  /** Why it differs from the report; null if it does not. */
  readonly reason: "above_ceiling" | "unreadable" | null;
}

/**
 * The chargeable consumption of a vendor's report. Each picture may consume the model's whole context and output, since
 * each may be a separate call. Source: docs/money.md#corrected-usage.
 *
 * @param made The number of pictures made.
 */
export function checkConsumption(
  { settlement, measure }: { readonly settlement: Settlement; readonly measure: ImageMeasure },
  reported: ImageConsumption,
  made: number,
): CheckedConsumption {
  const { contextLength, topProvider, tariff } = settlement.facts.model;
  const { textTokens, imageTokens, outputTokens, isUnreadable = false } = reported;
  const usage = { ...NO_USAGE, freshTokens: textTokens + imageTokens, outputTokens, isUnreadable };
  const limits = {
    contextTokens: contextLength,
    outputTokens: topProvider.maxCompletionTokens,
    choices: 1,
    hostedCalls: Math.max(measure.count, made, 1) - 1,
  };
  // If pictures have a price of their own, vendors need not count their tokens.
  const hasOutput = made > 0 && tariff.image_output > 0n && tariff.per_image === 0n;
  const checked = checkUsage(usage, limits, { hasPrompt: false, hasOutput });
  switch (checked.verdict) {
    case "plausible":
      return { consumption: reported, reason: null };
    case "unreadable":
      return { consumption: null, reason: "unreadable" };
    case "above_ceiling": {
      const { freshTokens, outputTokens } = checked.usage;
      return { consumption: cappedTo(reported, freshTokens, outputTokens), reason: "above_ceiling" };
    }
  }
}

function cappedTo(reported: ImageConsumption, promptTokens: number, outputTokens: number): ImageConsumption {
  const textTokens = Math.min(reported.textTokens, promptTokens);
  const imageTokens = Math.min(reported.imageTokens, promptTokens - textTokens);
  return {
    textTokens,
    imageTokens,
    cachedTokens: Math.min(reported.cachedTokens, promptTokens),
    outputTokens,
    outputTextTokens: Math.min(reported.outputTextTokens, outputTokens),
  };
}
