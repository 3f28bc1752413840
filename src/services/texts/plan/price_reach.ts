import { highestTariff, type Tariff } from "../../../money/billing/prices/tariff.ts";
import type { Model } from "../../../vendors/catalog/model.ts";
import { highestPricesIn } from "../../../vendors/catalog/prices/price_list.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import type { Candidate } from "../../../vendors/routing/candidates.ts";
import type { Provider } from "../../../vendors/upstreams/contract/provider.ts";
import type { TextParts, TextRequest } from "./attempt.ts";

/** What a request may reach, besides the size of its prompt. */
export interface TextReach {
  readonly request: Pick<TextRequest, "body">;
  readonly model: Model;
  /** The providers that may serve it. */
  readonly candidates: readonly Candidate[];
  /** The tiers at which they may serve it, null for the default one. */
  readonly tiers: readonly (string | null)[];
}

/** The time that a request may take until it is sent, besides waiting for a provider. */
const SENDING_MS = 60_000;

/**
 * Returns the highest prices of a request with a prompt of up to so many tokens: at its tier and region, of the bands
 * that it can reach, and of the hours until its last attempt can begin.
 */
export function tariffUpTo(
  promptTokens: number,
  { request: { body }, model, candidates, tiers }: TextReach,
  { clock, providers }: Pick<TextParts, "clock" | "providers">,
): Tariff {
  const { prices } = model;
  if (prices.overrides.length === 0 && tiers.length === 1 && tiers[0] === null) return model.tariff;
  const at = clock.now();
  const served = candidates.flatMap((candidate) => {
    const provider = providers.get(candidate.provider);
    return provider === undefined ? [] : [{ provider, name: candidate.model }];
  });
  const until = at + served.reduce((sum, { provider }) => sum + provider.wholeFirstByteMs, SENDING_MS);
  const regions = new Set(served.map(({ provider, name }) => regionOf(body, provider, name)));
  let highest: Tariff | null = null;
  for (const region of regions) {
    for (const serviceTier of tiers) {
      const tariff = highestPricesIn(prices, { at, until, maxPromptTokens: promptTokens, serviceTier, region });
      highest = highest === null || highest === tariff ? tariff : highestTariff(highest, tariff);
    }
  }
  return highest ?? model.tariff;
}

/** A profile of Bedrock names where the vendor works in front of the model: `eu.anthropic.claude-…`. */
const PROFILE = /^(global|us|us-gov|eu|au|jp|apac)\.(?=[a-z0-9]+\.)/;

/**
 * The region in which a vendor works on a request: that which the request names, else that of the model's name or of
 * the provider; null if it is unknown. Sources: Messages API reference, `inference_geo`; Amazon Bedrock, "Inference
 * profiles".
 */
export function regionOf({ inference_geo: asked }: JsonObject, { region }: Provider, name: string): string | null {
  if (typeof asked === "string" && asked !== "") return asked.toLowerCase();
  return PROFILE.exec(name)?.[1] ?? region ?? null;
}
