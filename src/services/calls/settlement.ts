import { withReservation } from "../../money/billing/meter/admission.ts";
import type { Admission, Charge, Meter } from "../../money/billing/meter/meter.ts";
import type { ChargeKind } from "../../money/billing/prices/tariff.ts";
import { costOfAll, type PricedQuantities } from "../../money/billing/prices/tariff.ts";
import type { Model } from "../../vendors/catalog/model.ts";
import { promptTokensOf, type Usage } from "../../conversation/neutral/usage.ts";
import type { RequestEnd, RequestRecord } from "../../platform/http/request/request_record.ts";
import type { Log } from "../../platform/lib/basics/log.ts";
import type { Money } from "../../platform/lib/basics/money.ts";
import { unpricedKeysOf } from "./unpriced_usage.ts";
import type { Slot } from "../../vendors/routing/slot_queue.ts";

/** The caller and the model of a call. */
export interface CallFacts {
  readonly kind: ChargeKind;
  readonly requestId: string;
  readonly accountId: string;
  /** The key of the caller; the charge names it. */
  readonly keyId: string;
  readonly model: Model;
  /** Unix milliseconds at which the request arrived. */
  readonly receivedAt: number;
  /** Collects what happens to the request. The call holds it until it is charged or released. */
  readonly record: RequestRecord;
}

/** How a call ended. */
export type EndState = RequestEnd;

/** The charge of a call. */
export interface CallCharge {
  /** The provider that served it. */
  readonly provider: string;
  readonly state: EndState;
  /** The charged parts. They are added exactly and rounded once. */
  readonly parts: readonly PricedQuantities[];
  /** Stored in the ledger with the amount. */
  readonly usage: Usage;
  /** The number of images in the response. Default: none. */
  readonly images?: number;
  /** The conditions that decided on the prices, in a few words each. Default: none. */
  readonly reasons?: readonly string[];
  /** The kinds of usage without a price. Default: by the quantities and the model's prices. */
  readonly unpriced?: readonly string[];
  /** What the vendor's cache saved, below zero if it cost more than no cache; null, the default, without a cache. */
  readonly cacheSaved?: Money | null;
  /** The most that is charged. Default: the cost of the parts. */
  readonly maxAmount?: Money;
}

/** How a call's settlements end together. */
interface CallState {
  isSettled: boolean;
  /** The slot of the attempt that is under way; null if its provider has no limits. */
  slot: Slot | null;
}

/** The dependencies of a settlement. */
export interface SettlementParts {
  readonly meter: Pick<Meter, "invalidate">;
  readonly log: Log;
}

/** Charges one call exactly once, however it ends, and records the charge. */
export class Settlement {
  readonly #state: CallState;

  /** @param state Whether the call has ended; shared by all settlements of one call. Default: a new call. */
  constructor(
    readonly facts: CallFacts,
    readonly admission: Admission,
    readonly parts: SettlementParts,
    state: CallState = { isSettled: false, slot: null },
  ) {
    this.#state = state;
  }

  /**
   * The same call, served by another model. Of all settlements of a call, the first that charges or releases is
   * effective.
   *
   * @param outputLimit The output limit to send to the vendor, as in `Reserved`.
   */
  servedBy(model: Model, outputLimit: number | null): Settlement {
    const { admission } = this;
    if (model === this.facts.model && outputLimit === admission.reserved.outputLimit) return this;
    const own = withReservation(admission, { ...admission.reserved, outputLimit });
    return new Settlement({ ...this.facts, model }, own, this.parts, this.#state);
  }

  /**
   * Charges the call. Returns a promise unless the charge is durable at once; it resolves when the charge is durable. A
   * second call has no effect.
   */
  charge(charge: CallCharge): Promise<void> | void {
    if (this.#state.isSettled) return;
    this.#state.isSettled = true;
    this.#state.slot?.end(tokensOf(charge.usage));
    const cost = costOfAll(charge.parts);
    const { maxAmount = cost } = charge;
    const amount = cost < maxAmount ? cost : maxAmount;
    this.#record(charge, amount);
    const charged = this.admission.charge(this.#chargeOf(charge, amount));
    const { record } = this.facts;
    if (!charged) return record.release();
    return charged.catch((failure) => {
      record.cost = null;
      throw failure;
    }).finally(() => record.release());
  }

  /**
   * Charges the call in a commit together with the paid work, so that both become durable or neither does.
   *
   * @param commit Commits the work with the charge; receives null if the amount is zero. If it fails, the call is still
   * open.
   */
  async chargeWithin(charge: CallCharge, commit: (charge: Charge | null) => Promise<void>): Promise<void> {
    if (this.#state.isSettled) throw new Error("Cannot charge a call that has ended");
    const amount = costOfAll(charge.parts);
    try {
      await commit(amount > 0n ? this.#chargeOf(charge, amount) : null);
    } finally {
      // The balance is read again before the reservation ends, so that no other call is admitted in between.
      this.parts.meter.invalidate(this.facts.accountId);
    }
    this.#record(charge, amount);
    this.#release(tokensOf(charge.usage));
  }

  /** Ends the call without a charge. Has no effect after a charge. */
  release(): void {
    this.#release(0);
  }

  #release(tokens: number): void {
    if (this.#state.isSettled) return;
    this.#state.isSettled = true;
    this.#state.slot?.end(tokens);
    this.admission.release(tokens);
    this.facts.record.release();
  }

  /** Keeps the slot of an attempt until the call ends. */
  keepSlot(slot: Slot | null): void {
    this.#state.slot = slot;
  }

  /** Returns the slot of a failed attempt. */
  returnSlot(): void {
    this.#state.slot?.end(0);
    this.#state.slot = null;
  }

  #chargeOf({ provider, usage, cacheSaved = null }: CallCharge, amount: Money): Charge {
    const { kind, requestId, keyId, model } = this.facts;
    const saved = cacheSaved === null ? {} : { cacheSaved };
    return { kind, requestId, keyId, model: model.id, provider, amount, usage, ...saved };
  }

  #record(charge: CallCharge, amount: Money): void {
    const { provider, state, parts, usage, images = 0, reasons = [], unpriced, cacheSaved = null } = charge;
    const { record, kind, model } = this.facts;
    record.kind = kind;
    record.servedModel = model.id;
    record.provider = provider;
    record.end = state;
    record.images = images;
    record.cost = amount;
    if (cacheSaved !== null) record.cacheSaved = cacheSaved;
    record.charged = parts;
    record.priceReasons = reasons;
    record.unpriced = unpriced ?? parts.flatMap((each) => unpricedKeysOf(kind, each.quantities, model.pricing));
    record.tokens = {
      input: promptTokensOf(usage),
      cacheRead: usage.cacheReadTokens,
      cacheWrite: usage.cacheWrite5mTokens + usage.cacheWrite1hTokens,
      output: usage.outputTokens,
      reasoning: usage.reasoningTokens,
      isEstimated: usage.estimated === true,
    };
  }
}

function tokensOf(usage: Usage): number {
  return promptTokensOf(usage) + usage.outputTokens;
}
