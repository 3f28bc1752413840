import type { Admission, Charge, Meter } from "../billing/meter.ts";
import type { ChargeKind } from "../billing/tariff.ts";
import { costOfAll, type PricedQuantities } from "../billing/tariff.ts";
import type { Model } from "../catalog/model.ts";
import { promptTokensOf, type Usage } from "../conversation/usage.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log, LogFields } from "../lib/log.ts";
import { type Money, writeMoney } from "../lib/money.ts";

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
}

/** How a call ended: with a complete response, cut off by the vendor or the gateway, or left by the caller. */
export type EndState = "completed" | "cut" | "left";

/** The charge of a call. */
export interface CallCharge {
  /** The provider that served it. */
  readonly provider: string;
  readonly state: EndState;
  /** The charged parts. They are added exactly and rounded once. */
  readonly parts: readonly PricedQuantities[];
  /** Stored in the ledger with the amount. */
  readonly usage: Usage;
  /** Additional small log fields. */
  readonly logged?: LogFields;
}

/** The dependencies of a settlement. */
export interface SettlementParts {
  readonly meter: Pick<Meter, "invalidate">;
  readonly clock: Clock;
  readonly log: Log;
}

/** Charges one call exactly once, however it ends, and logs `call_charged`. */
export class Settlement {
  readonly #state: { isSettled: boolean };

  /** @param state Whether the call has ended; shared by all settlements of one call. */
  constructor(
    readonly facts: CallFacts,
    readonly admission: Admission,
    readonly parts: SettlementParts,
    state: { isSettled: boolean } = { isSettled: false },
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
    const own: Admission = {
      reserved: { ...admission.reserved, outputLimit },
      charge: (charge) => admission.charge(charge),
      release: () => admission.release(),
      onOverdrawn: (listener) => admission.onOverdrawn(listener),
    };
    return new Settlement({ ...this.facts, model }, own, this.parts, this.#state);
  }

  /**
   * Charges the call. Returns a promise unless the charge is durable at once; it resolves when the charge is durable. A
   * second call has no effect.
   */
  charge(charge: CallCharge): Promise<void> | void {
    if (this.#state.isSettled) return;
    this.#state.isSettled = true;
    const amount = costOfAll(charge.parts);
    const charged = this.admission.charge(this.#chargeOf(charge, amount));
    if (charged) return charged.then(() => this.#logCharge(charge, amount));
    this.#logCharge(charge, amount);
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
    this.release();
    this.#logCharge(charge, amount);
  }

  /** Ends the call without a charge. Has no effect after a charge. */
  release(): void {
    if (this.#state.isSettled) return;
    this.#state.isSettled = true;
    this.admission.release();
  }

  #chargeOf({ provider, usage }: CallCharge, amount: Money): Charge {
    const { kind, requestId, keyId, model } = this.facts;
    return { kind, requestId, keyId, model: model.id, provider, amount, usage };
  }

  #logCharge({ provider, state, usage, logged }: CallCharge, amount: Money): void {
    const { kind, requestId, accountId, model, receivedAt } = this.facts;
    const fields: LogFields = {
      kind,
      requestId,
      accountId,
      model: model.id,
      provider,
      state: usage.estimated ? `${state}, estimated` : state,
      inputTokens: promptTokensOf(usage),
      outputTokens: usage.outputTokens,
      cost: writeMoney(amount),
      durationMs: this.parts.clock.now() - receivedAt,
    };
    this.parts.log.info("call_charged", logged === undefined ? fields : { ...fields, ...logged });
  }
}
