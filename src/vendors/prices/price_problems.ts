import { maxPlausiblePrice, type PriceName } from "../../money/billing/prices/tariff.ts";
import { readRate } from "../../platform/lib/basics/money.ts";
import { decimalOf } from "./litellm_prices.ts";

/** More problems are counted, not named. */
const MAX_NAMED = 10;
const MAX_SHOWN_CHARACTERS = 60;

/** A price list that cannot be used. */
export class PriceListError extends Error {
  override readonly name = "PriceListError";

  /** @param problems One line each, at least one. */
  constructor(readonly problems: readonly string[]) {
    super(problems.join("; "));
  }
}

/** Collects what is wrong with a price list. */
export class PriceProblems {
  readonly #named: string[] = [];
  #count = 0;

  /** @param place The model and the field: `gpt-6-sol: input_cost_per_token`. */
  add(place: string, expected: string, found: unknown): void {
    this.addLine(`${place}: expected ${expected}, found ${shown(found)}`);
  }

  /** Adds a problem in words. */
  addLine(line: string): void {
    if (this.#count++ < MAX_NAMED) this.#named.push(line);
  }

  /**
   * A price in USD as a decimal.
   *
   * @param value A number, or a decimal as text.
   * @returns Null if it is no price, which is noted then.
   */
  price(place: string, name: PriceName | null, value: unknown): string | null {
    const max = maxPlausiblePrice(name);
    const decimal = typeof value === "number" ? decimalOf(value) : plainDecimal(value);
    if (decimal !== null && Number(decimal) <= max) return decimal;
    this.add(place, `a price from 0 to ${max} USD`, value);
    return null;
  }

  /** @throws {PriceListError} If there is any. */
  throwIfAny(): void {
    if (this.#count === 0) return;
    const more = this.#count - this.#named.length;
    throw new PriceListError([...this.#named, ...more > 0 ? [`and ${more} more`] : []]);
  }
}

function plainDecimal(value: unknown): string | null {
  if (typeof value !== "string") return null;
  try {
    readRate(value);
    return value;
  } catch {
    // Other programs write 1e-7 where we write 0.0000001.
    return /^\d+(\.\d+)?e-?\d{1,3}$/i.test(value) ? decimalOf(Number(value)) : null;
  }
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? typeof value;
  return text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text;
}
