import { createHash } from "node:crypto";
import type { Clock } from "../platform/lib/basics/clock.ts";
import { Bills, type RatesOf } from "./bills.ts";
import { PromptCache } from "./prompt_cache.ts";

const MAX_TEXTS = 1000;

interface VendorOptions {
  readonly ratesOf?: RatesOf | undefined;
  readonly jobsFolder?: string | null;
}

/** The state of one sandbox's vendors between requests. */
export class SimulatedVendors {
  readonly promptCache = new PromptCache();
  /** What they have served. */
  readonly bills: Bills;
  #made = 0;
  readonly #attempts = new Map<string, number>();

  /** Has the jobs of videos and images for the next sandbox; null if they end with this one. */
  readonly jobsFolder: string | null;
  readonly #firstId: string;

  /**
   * @param clock For dates, delays and stalls.
   * @param options `ratesOf`: what they bill; by default everything is free. With a `jobsFolder` the ids of this
   *     sandbox are other ones than those of the sandboxes before it.
   */
  constructor(readonly clock: Clock, { ratesOf, jobsFolder = null }: VendorOptions = {}) {
    this.bills = new Bills(ratesOf);
    this.jobsFolder = jobsFolder;
    this.#firstId = jobsFolder === null ? "" : `${clock.now()} `;
  }

  /** Returns twenty-four hexadecimal digits. Every sandbox returns the same sequence, unless it keeps its jobs. */
  nextId(): string {
    return createHash("sha256").update(`sandbox id ${this.#firstId}${++this.#made}`).digest("hex").slice(0, 24);
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
