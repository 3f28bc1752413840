import type { Usage } from "../conversation/neutral/usage.ts";
import { promptTokensOf } from "../conversation/neutral/usage.ts";

/** What a simulated vendor bills for a request. */
export interface BilledRates {
  /** Whether they are those of a long prompt. */
  readonly isLong: boolean;
  /** Of a unit of each price key, in 10^-18 USD. */
  readonly rates: Readonly<Record<string, bigint>>;
}

/** A request whose rates are asked for. */
export interface RatedCall {
  /** The name of the vendor in the sandbox. */
  readonly vendor: string;
  /** The vendor's name of the model. */
  readonly model: string;
  /** Unix milliseconds. */
  readonly at: number;
  readonly promptTokens: number;
}

/** Returns what a simulated vendor bills for a request. Keys without a rate are free. */
export type RatesOf = (call: RatedCall) => BilledRates;

const FREE: BilledRates = { isLong: false, rates: {} };

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
  #models = 0;

  /** @param ratesOf Default: everything is free. */
  constructor(private readonly ratesOf: RatesOf = () => FREE) {}

  /** Adds a request. Models beyond 10,000 on all days are not billed. */
  add({ vendor, model, usage, at }: BilledCall): void {
    const billed = this.#modelOf(vendor, Math.floor(at / BILL_DAY_MS), model);
    if (billed === null) return;
    billed.requests++;
    const promptTokens = promptTokensOf(usage);
    const { isLong, rates } = this.ratesOf({ vendor: vendor.slice(1), model, at, promptTokens });
    for (const [key, quantity] of Object.entries(quantitiesOf(usage))) {
      if (quantity === 0) continue;
      billed.quantities.set(key, (billed.quantities.get(key) ?? 0) + quantity);
      const name = `${key} ${isLong}`;
      const line = billed.lines.get(name) ?? { key, isLong, quantity: 0, amount: 0n };
      billed.lines.set(name, line);
      line.quantity += quantity;
      line.amount += BigInt(quantity) * (rates[key] ?? 0n);
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
