import type { PricedQuantities } from "../../money/billing/prices/tariff.ts";
import { checkUsage } from "../calls/plausible_usage.ts";
import type { Catalog } from "../../vendors/catalog/catalog.ts";
import type { Model } from "../../vendors/catalog/model.ts";
import { NO_USAGE } from "../../conversation/neutral/usage.ts";
import type { SvgUsage } from "../../vendors/upstreams/contract/image_upstream.ts";
import type { ImageMeasure } from "./consumption.ts";

/** What the author of a drawing reads of the image that it draws from, at the highest detail. */
const MAX_IMAGE_TOKENS = 8_000;
const MIN_BYTES_PER_TOKEN = 2;
const CHARACTERS_PER_TOKEN = 4;
/** For a model whose limits are not known. */
const DEFAULT_OUTPUT_TOKENS = 128_000;

/** The counters of usages together; nothing if there are none. */
export function sumOfSvgUsages(usages: readonly SvgUsage[]): { readonly svgUsage?: SvgUsage } {
  const [first] = usages;
  if (first === undefined) return {};
  const total = (count: (usage: SvgUsage) => number) => usages.reduce((sum, usage) => sum + count(usage), 0);
  return {
    svgUsage: {
      model: first.model,
      inputTokens: total(({ inputTokens }) => inputTokens),
      outputTokens: total(({ outputTokens }) => outputTokens),
      reasoningTokens: total(({ reasoningTokens }) => reasoningTokens),
    },
  };
}

/** The most that the author of the drawings of a request can consume. */
export function maxSvgUsage(author: Model, { prompt, count, given }: ImageMeasure): SvgUsage {
  const promptBytes = new TextEncoder().encode(prompt).length;
  const input = Math.ceil(promptBytes / MIN_BYTES_PER_TOKEN) + (given + 1) * MAX_IMAGE_TOKENS;
  return {
    model: null,
    inputTokens: count * input,
    outputTokens: count * (author.topProvider.maxCompletionTokens || author.contextLength || DEFAULT_OUTPUT_TOKENS),
    reasoningTokens: 0,
  };
}

/** The likely usage for drawings that were made, for vendors that report none. */
function estimatedSvgUsage({ prompt, count, given }: ImageMeasure, madeBytes: number): SvgUsage {
  return {
    model: null,
    inputTokens: count * (Math.ceil(prompt.length / CHARACTERS_PER_TOKEN) + given * MAX_IMAGE_TOKENS),
    outputTokens: Math.ceil(madeBytes / CHARACTERS_PER_TOKEN),
    reasoningTokens: 0,
  };
}

/** What the author of drawings consumed, and who it was. */
export interface ChargedSvg {
  readonly usage: SvgUsage;
  readonly author: Model;
  /** Whether the vendor reports nothing that can be charged. */
  readonly isEstimated: boolean;
}

/** What was ordered and made. */
export interface MadeSvg {
  readonly ordered: Model;
  readonly measure: ImageMeasure;
  /** Of the drawings that were made. */
  readonly madeBytes: number;
  readonly provider: string;
}

/**
 * The usage to charge, at the price of the model that the vendor names, or else of the one that was ordered. A count
 * above what a model can consume is reduced to that.
 */
export function chargedSvg(
  reported: SvgUsage | undefined,
  { ordered, measure, madeBytes, provider }: MadeSvg,
  catalog: Catalog,
): ChargedSvg {
  const named = typeof reported?.model === "string" ? catalog.servedAs(provider, reported.model) : null;
  const author = named ?? ordered;
  if (reported !== undefined) {
    const { inputTokens, outputTokens } = reported;
    const isUnreadable = Number.isNaN(inputTokens + outputTokens);
    const usage = { ...NO_USAGE, freshTokens: inputTokens, outputTokens, isUnreadable };
    const limits = {
      contextTokens: author.contextLength,
      outputTokens: author.topProvider.maxCompletionTokens,
      choices: 1,
      hostedCalls: measure.count - 1,
    };
    const checked = checkUsage(usage, limits, { hasPrompt: false, hasOutput: true });
    if (checked.verdict !== "unreadable") {
      const { freshTokens, outputTokens } = checked.usage;
      return { usage: { ...reported, inputTokens: freshTokens, outputTokens }, author, isEstimated: false };
    }
  }
  return { usage: estimatedSvgUsage(measure, madeBytes), author, isEstimated: true };
}

/** The priced part of a charge. */
export function svgPart({ inputTokens, outputTokens }: SvgUsage, { tariff }: Model): PricedQuantities {
  return { quantities: { prompt: inputTokens, completion: outputTokens }, tariff };
}

/** All tokens of a usage. */
export function tokensOf({ inputTokens, outputTokens }: SvgUsage): number {
  return inputTokens + outputTokens;
}
