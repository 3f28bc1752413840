import { createHash } from "node:crypto";
import type { Clock } from "../platform/lib/basics/clock.ts";
import { Bills, type RatesOf } from "./bills.ts";
import { PromptCache } from "./prompt_cache.ts";

const MAX_TEXTS = 1000;

/** The state of one sandbox's vendors between requests. */
export class SimulatedVendors {
  readonly promptCache = new PromptCache();
  /** What they have served. */
  readonly bills: Bills;
  #made = 0;
  readonly #attempts = new Map<string, number>();

  /**
   * @param clock For dates, delays and stalls.
   * @param ratesOf What they bill. Default: everything is free.
   */
  constructor(readonly clock: Clock, ratesOf?: RatesOf) {
    this.bills = new Bills(ratesOf);
  }

  /** Returns twenty-four hexadecimal digits. Every sandbox returns the same sequence, without repetition. */
  nextId(): string {
    return createHash("sha256").update(`sandbox id ${++this.#made}`).digest("hex").slice(0, 24);
  }

  /** Counts an attempt with this text and returns the number so far. */
  attemptsOf(text: string): number {
    const attempts = (this.#attempts.get(text) ?? 0) + 1;
    if (attempts === 1 && this.#attempts.size === MAX_TEXTS) {
      this.#attempts.delete(this.#attempts.keys().next().value!);
    }
    this.#attempts.set(text, attempts);
    return attempts;
  }
}
