import * as z from "zod";
import {
  costOf,
  PRICE_KEYS,
  type PriceKey,
  type Quantities,
  type Tariff,
  videoSecondTariff,
} from "../../money/billing/prices/tariff.ts";
import type { DatedCatalog } from "../../vendors/catalog/catalog.ts";
import { pricePerSecondOf } from "../../vendors/catalog/sections/media_sections.ts";
import type { Model } from "../../vendors/catalog/model.ts";
import { pricedTiers, pricesIn } from "../../vendors/catalog/prices/price_list.ts";
import type { Handler } from "../../platform/http/request/inbound.ts";
import { GatewayError, invalidField } from "../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import { readRate, writeMoney, writeRate } from "../../platform/lib/basics/money.ts";
import type { ReadJson } from "./accounts.ts";
import { answerJson } from "./shared/answer.ts";
import { readFields } from "./shared/fields.ts";

const MAX_QUANTITY = 1_000_000_000_000;
const QUANTITY_EXPECTATION = `a number from 0 to ${MAX_QUANTITY} with up to three decimals`;

const quantity = z.number(QUANTITY_EXPECTATION).min(0, QUANTITY_EXPECTATION).max(MAX_QUANTITY, QUANTITY_EXPECTATION)
  .refine((value) => Math.abs(value * 1_000 - Math.round(value * 1_000)) < 1e-3, QUANTITY_EXPECTATION);

/** The body of `POST /admin/v1/models/price`. */
export const Calculation = z.strictObject({
  model: z.string("the id of a model"),
  quantities: z.strictObject(Object.fromEntries(PRICE_KEYS.map((key) => [key, quantity.optional()])), {
    error: (issue) => issue.code === "invalid_type" ? 'quantities by price, such as {"prompt": 1000}' : undefined,
  }).default({}),
  prompt_tokens: z.int("a number of tokens").min(0, "a number of tokens").optional(),
  tier: z.string("the name of a service tier").optional(),
  region: z.string("the name of a region").optional(),
  resolution: z.string("a resolution of the model").optional(),
  audio: z.boolean("true or false").default(false),
});

/** The dependencies of {@linkcode priceHandler}. */
export interface PriceOptions {
  readonly catalog: DatedCatalog;
  readonly readJson: ReadJson;
}

/**
 * `POST /admin/v1/models/price` `{model, quantities?, prompt_tokens?, tier?, region?, resolution?, audio?}`: the cost
 * of quantities by the model's tariff, with the arithmetic of charges. Nothing is charged. Source:
 * docs/api/admin.md#models.
 */
export function priceHandler({ catalog, readJson }: PriceOptions): Handler {
  return async (inbound) => {
    const fields = readFields(Calculation, await readJson(inbound));
    const { model: id, quantities, tier, region, resolution, audio } = fields;
    const model = catalog.at(inbound.receivedAt).models.find((each) => each.id === id);
    if (model === undefined) throw new GatewayError("not_found", "Cannot find the model: no such id in the catalog");
    const promptTokens = fields.prompt_tokens ?? promptTokensIn(quantities);
    const tariff = tariffFor(model, { at: inbound.receivedAt, promptTokens, tier, region, resolution, audio });
    const given = PRICE_KEYS.filter((key) => (quantities[key] ?? 0) > 0);
    return answerJson({
      model: id,
      tier: tier ?? null,
      rates: ratesOf(tariff),
      charged: given.map((key) => chargeOf(key, quantities[key] ?? 0, tariff)),
      cost: writeMoney(costOf(quantities, tariff)),
    });
  };
}

/** The quantities that are tokens of a prompt. */
const PROMPT_KEYS = PRICE_KEYS.filter((key) =>
  /^(?:prompt|input_cache_|image_input|audio$|audio_cache_read)/.test(key)
);

function promptTokensIn(quantities: Quantities): number {
  return PROMPT_KEYS.reduce((sum, key) => sum + (quantities[key] ?? 0), 0);
}

interface Variant {
  /** Unix milliseconds. */
  readonly at: number;
  readonly promptTokens: number;
  readonly tier: string | undefined;
  readonly region: string | undefined;
  readonly resolution: string | undefined;
  readonly audio: boolean;
}

function tariffFor(model: Model, { at, promptTokens, tier, region, resolution, audio }: Variant): Tariff {
  const known = pricedTiers(model.prices);
  if (tier !== undefined && !known.includes(tier)) {
    throw invalidField("tier", `expected ${known.length === 0 ? "none: the model has no tiers" : known.join(" or ")}`);
  }
  const { tariff } = pricesIn(model.prices, { at, promptTokens, serviceTier: tier ?? null, region: region ?? null });
  if (model.video === null || resolution === undefined) return tariff;
  const priced = model.video.resolutions.find((each) => each === resolution);
  const perSecond = priced === undefined ? null : pricePerSecondOf(model.video, priced, audio);
  if (perSecond === null) throw invalidField("resolution", `expected one of ${model.video.resolutions.join(", ")}`);
  return { ...tariff, video_second: videoSecondTariff(readRate(perSecond)).video_second };
}

/** The rates that are not zero, in USD by price. */
function ratesOf(tariff: Tariff): JsonObject {
  return Object.fromEntries(PRICE_KEYS.filter((key) => tariff[key] > 0n).map((key) => [key, writeRate(tariff[key])]));
}

function chargeOf(price: PriceKey, amount: number, tariff: Tariff): JsonObject {
  return {
    price,
    quantity: amount,
    rate: writeRate(tariff[price]),
    cost: writeMoney(costOf({ [price]: amount }, tariff)),
  };
}
