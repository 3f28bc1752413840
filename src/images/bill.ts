import type { Admission, Meter } from "../billing/meter.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { writeMoney } from "../lib/money.ts";
import type { ImageConsumption } from "../upstreams/image_upstream.ts";
import { costOfConsumption, estimatedConsumption, type ImageMeasure, type ImagePrices } from "./consumption.ts";

/** What a request is charged by. */
export interface BillFacts {
  readonly requestId: string;
  readonly accountId: string;
  /** Unix milliseconds at which the request came. */
  readonly receivedAt: number;
  /** The catalog's id. */
  readonly model: string;
  readonly prices: ImagePrices;
  readonly measure: ImageMeasure;
}

/** What bills are written with. */
export interface BillParts {
  readonly meter: Meter;
  readonly clock: Clock;
  readonly log: Log;
}

/** What one request has come to: its pictures, and what the vendor reported; null where it reported nothing. */
export interface BilledWork {
  readonly provider: string;
  readonly made: number;
  readonly consumption: ImageConsumption | null;
  readonly state: "completed" | "left" | "cut";
}

/**
 * Lets a request in by what it may cost.
 *
 * @throws {GatewayError} `insufficient_credits`.
 */
export async function openBill(facts: BillFacts, parts: BillParts): Promise<ImageBill> {
  const { measure, prices } = facts;
  const pictures = { made: measure.count, given: measure.given };
  const estimate = costOfConsumption(estimatedConsumption(measure), pictures, prices);
  return new ImageBill(facts, await parts.meter.admit(facts.accountId, estimate), parts);
}

/** Charges one request, once, whichever way it ends. */
export class ImageBill {
  #settled = false;

  constructor(readonly facts: BillFacts, readonly admission: Admission, readonly parts: BillParts) {}

  /**
   * The consumption to report and to charge by. A vendor that reports none is billed by the catalog's price of a picture;
   * where pictures are priced by their tokens alone, the tokens are estimated.
   */
  consumptionOf({ consumption, made }: Pick<BilledWork, "consumption" | "made">): ImageConsumption {
    if (consumption !== null) return consumption;
    const { prices, measure } = this.facts;
    return prices.perImage > 0n ? NOTHING_REPORTED : estimatedConsumption({ ...measure, count: made });
  }

  /** Resolves when the charge is durable. A second call does nothing. */
  async charge(work: BilledWork): Promise<void> {
    if (this.#settled) return;
    this.#settled = true;
    const { requestId, accountId, receivedAt, model, prices, measure } = this.facts;
    const consumption = this.consumptionOf(work);
    const { textTokens, imageTokens, cachedTokens, outputTokens } = consumption;
    const amount = costOfConsumption(consumption, { made: work.made, given: measure.given }, prices);
    const usage = {
      freshTokens: Math.max(0, textTokens + imageTokens - cachedTokens),
      cacheReadTokens: cachedTokens,
      outputTokens,
    };
    await this.admission.charge({ kind: "image", requestId, model, provider: work.provider, amount, usage });
    this.parts.log.info("image_charged", {
      requestId,
      accountId,
      model,
      provider: work.provider,
      state: work.consumption === null ? `${work.state}, estimated` : work.state,
      count: work.made,
      inputTokens: textTokens + imageTokens,
      outputTokens,
      cost: writeMoney(amount),
      durationMs: this.parts.clock.now() - receivedAt,
    });
  }

  /** Ends the request without a charge. */
  release(): void {
    if (this.#settled) return;
    this.#settled = true;
    this.admission.release();
  }
}

const NOTHING_REPORTED: ImageConsumption = { textTokens: 0, imageTokens: 0, cachedTokens: 0, outputTokens: 0 };
