import { builtInFields } from "../catalog/built_in.ts";
import { readModel } from "../catalog/model.ts";
import { type ModelPrices, pricesIn } from "../catalog/price_list.ts";
import type { Usage } from "../conversation/usage.ts";
import { promptTokensOf } from "../conversation/usage.ts";

/** Prices of models by the vendor's name, as an operator writes `pricing`. */
export type SandboxPrices = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** What a simulated vendor bills for one kind of units. */
export interface BilledLine {
  /** A price key. */
  readonly key: string;
  /** Whether the price is that of a long prompt. */
  readonly isLong: boolean;
  quantity: number;
  /** In units of 10^-18 USD. */
  amount: bigint;
}

/** What a simulated vendor served of one model on one day. */
export interface BilledModel {
  readonly model: string;
  requests: number;
  /** Sums by price key. */
  readonly quantities: Map<string, number>;
  readonly lines: Map<string, BilledLine>;
}

/** A request that a vendor bills. */
export interface BilledCall {
  /** The prefix of the vendor's paths. */
  readonly vendor: string;
  readonly model: string;
  readonly usage: Usage;
  /** Unix milliseconds. */
  readonly at: number;
}

/** Milliseconds of a UTC day. */
export const BILL_DAY_MS = 86_400_000;
const MAX_MODELS = 10_000;

/** What the vendors of a sandbox have served, by day and model. */
export class Bills {
  readonly #days = new Map<string, Map<string, BilledModel>>();
  readonly #prices = new Map<string, ModelPrices>();
  #models = 0;

  /** @param prices Of models that are not built in, and in the place of the built-in ones. */
  constructor(private readonly prices: SandboxPrices = {}) {}

  /** Adds a request. Models beyond 10,000 on all days are not billed. */
  add({ vendor, model, usage, at }: BilledCall): void {
    const billed = this.#modelOf(vendor, Math.floor(at / BILL_DAY_MS), model);
    if (billed === null) return;
    billed.requests++;
    const situation = { at, promptTokens: promptTokensOf(usage), serviceTier: null, region: null };
    const { tariff, reasons } = pricesIn(this.#pricesOf(vendor, model), situation);
    const isLong = reasons.some((reason) => reason.startsWith("above"));
    for (const [key, quantity] of Object.entries(quantitiesOf(usage))) {
      if (quantity === 0) continue;
      billed.quantities.set(key, (billed.quantities.get(key) ?? 0) + quantity);
      const name = `${key} ${isLong}`;
      const line = billed.lines.get(name) ?? { key, isLong, quantity: 0, amount: 0n };
      billed.lines.set(name, line);
      line.quantity += quantity;
      line.amount += BigInt(quantity) * tariff[key as keyof typeof tariff];
    }
  }

  /** What a vendor served on a day: days since 1970, UTC. */
  of(vendor: string, day: number): readonly BilledModel[] {
    return [...this.#days.get(`${vendor} ${day}`)?.values() ?? []];
  }

  #modelOf(vendor: string, day: number, model: string): BilledModel | null {
    const key = `${vendor} ${day}`;
    const models = this.#days.get(key) ?? new Map<string, BilledModel>();
    const found = models.get(model);
    if (found !== undefined) return found;
    if (++this.#models > MAX_MODELS) return null;
    const made: BilledModel = { model, requests: 0, quantities: new Map(), lines: new Map() };
    this.#days.set(key, models);
    models.set(model, made);
    return made;
  }

  #pricesOf(vendor: string, model: string): ModelPrices {
    const key = `${vendor} ${model}`;
    const known = this.#prices.get(key);
    if (known !== undefined) return known;
    const pricing = Object.hasOwn(this.prices, model)
      ? this.prices[model]
      : builtInFields(vendor.slice(1), model)?.pricing ?? {};
    const { prices } = readModel({ id: "sandbox/billed", serves: [{ provider: "sandbox" }], pricing });
    this.#prices.set(key, prices);
    return prices;
  }
}

/** Units without overlap, by price key. */
function quantitiesOf(usage: Usage) {
  return {
    prompt: usage.freshTokens + usage.toolPromptTokens,
    input_cache_read: usage.cacheReadTokens,
    input_cache_write_5m: usage.cacheWrite5mTokens,
    input_cache_write_1h: usage.cacheWrite1hTokens,
    completion: usage.outputTokens,
    web_search: usage.webSearches ?? 0,
  } as const;
}
