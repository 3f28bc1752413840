import type { Admission, Charge, Meter } from "../billing/meter.ts";
import type { ChargeKind } from "../billing/tariff.ts";
import { costOfAll, type PricedQuantities } from "../billing/tariff.ts";
import type { Model } from "../catalog/model.ts";
import { promptTokensOf, type Usage } from "../conversation/usage.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log, LogFields } from "../lib/log.ts";
import { type Money, writeMoney } from "../lib/money.ts";

/** Who made a call, and for which model. */
export interface CallFacts {
  readonly kind: ChargeKind;
  readonly requestId: string;
  readonly accountId: string;
  readonly model: Model;
  /** Unix milliseconds at which the request came. */
  readonly receivedAt: number;
}

/** How a call ended: its reply was complete, the vendor or the gateway cut it off, or the caller left. */
export type EndState = "completed" | "cut" | "left";

/** What a call came to. */
export interface CallCharge {
  /** The provider that served it. */
  readonly provider: string;
  readonly state: EndState;
  /** What is charged: the parts are added up exactly and rounded once. */
  readonly parts: readonly PricedQuantities[];
  /** What the ledger keeps beside the amount. */
  readonly usage: Usage;
  /** More for the log line, small. */
  readonly logged?: LogFields;
}

/** What a settlement works with. */
export interface SettlementParts {
  readonly meter: Pick<Meter, "invalidate">;
  readonly clock: Clock;
  readonly log: Log;
}

/** Charges one call once, whichever way it ends, and logs `call_charged`. */
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
   * The same call as another model serves it. Of all settlements of a call, the first that charges or releases counts.
   *
   * @param outputLimit The limit that its vendor must be sent, as `Reserved` has it.
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

  /** Charges the call; resolves when the charge is durable. A second call does nothing. */
  async charge(charge: CallCharge): Promise<void> {
    if (this.#state.isSettled) return;
    this.#state.isSettled = true;
    const amount = costOfAll(charge.parts);
    await this.admission.charge(this.#chargeOf(charge, amount));
    this.#logCharge(charge, amount);
  }

  /**
   * Charges the call in a commit of the work that it pays for, so that both become durable or neither does.
   *
   * @param commit Makes the commit, with the charge in it; gets null when nothing is to be paid. When it fails, the
   * call is still open.
   */
  async chargeWithin(charge: CallCharge, commit: (charge: Charge | null) => Promise<void>): Promise<void> {
    if (this.#state.isSettled) throw new Error("Cannot charge a call that has ended");
    const amount = costOfAll(charge.parts);
    try {
      await commit(amount > 0n ? this.#chargeOf(charge, amount) : null);
    } finally {
      // The balance is read anew before the reservation ends, so that no other call is admitted in between.
      this.parts.meter.invalidate(this.facts.accountId);
    }
    this.release();
    this.#logCharge(charge, amount);
  }

  /** Ends the call without a charge. Does nothing after a charge. */
  release(): void {
    if (this.#state.isSettled) return;
    this.#state.isSettled = true;
    this.admission.release();
  }

  #chargeOf({ provider, usage }: CallCharge, amount: Money): Charge {
    const { kind, requestId, model } = this.facts;
    return { kind, requestId, model: model.id, provider, amount, usage };
  }

  #logCharge({ provider, state, usage, logged }: CallCharge, amount: Money): void {
    const { kind, requestId, accountId, model, receivedAt } = this.facts;
    this.parts.log.info("call_charged", {
      kind,
      requestId,
      accountId,
      model: model.id,
      provider,
      state: usage.estimated ? `${state}, estimated` : state,
      inputTokens: promptTokensOf(usage),
      outputTokens: usage.outputTokens,
      ...logged,
      cost: writeMoney(amount),
      durationMs: this.parts.clock.now() - receivedAt,
    });
  }
}
