import { allTokensOf } from "../../../conversation/neutral/usage.ts";
import type { Log } from "../../../platform/lib/basics/log.ts";
import type { MaybePromise } from "../../../platform/lib/basics/maybe_promise.ts";
import type { Admission, Charge, Reservation } from "./meter.ts";

/**
 * What an admission is of, and what happens to its charge: it goes to the ledger, to the journal of a thread, or in a
 * message to the thread that has the ledger.
 */
export interface AdmittedCall {
  readonly accountId: string;
  /**
   * Ends the reservation. Called once. Nothing may be awaited between the end of the reservation and the charge, so
   * that no other call is admitted in between.
   *
   * @param charge Null for none. Its amount is at least zero.
   * @param tokens The tokens that the call used.
   * @returns As {@linkcode Admission.charge}.
   */
  end(charge: Charge | null, tokens: number): MaybePromise<void>;
  /** Sets the listener of {@linkcode Admission.onOverdrawn}. Not called after `end`. */
  whenOverdrawn(listener: () => void): void;
}

/** The one implementation of {@linkcode Admission}: it ends a call once, however it ends. */
export class CallAdmission implements Admission {
  #isEnded = false;
  #charged: MaybePromise<void> = undefined;

  /** @param call What is ended. */
  constructor(readonly reserved: Reservation, private readonly call: AdmittedCall, private readonly log: Log) {}

  /** See {@linkcode Admission.charge}. */
  charge(charge: Charge): MaybePromise<void> {
    const { amount, requestId } = charge;
    if (amount < 0n) return Promise.reject(new RangeError(`Cannot charge an amount below zero: got ${amount}`));
    if (this.#isEnded) {
      const { accountId } = this.call;
      this.log.error("charge_ignored", { accountId, requestId, reason: "the call had ended" });
      return this.#charged;
    }
    this.#isEnded = true;
    return this.#charged = this.call.end(charge, allTokensOf(charge.usage));
  }

  /** See {@linkcode Admission.release}. */
  release(tokens = 0): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#charged = this.call.end(null, tokens);
  }

  /** See {@linkcode Admission.onOverdrawn}. */
  onOverdrawn(listener: () => void): void {
    if (!this.#isEnded) this.call.whenOverdrawn(listener);
  }
}

/** An admission with another reservation, for a call that another model serves. Both end together. */
export function withReservation(admission: Admission, reserved: Reservation): Admission {
  return {
    reserved,
    charge: (charge) => admission.charge(charge),
    release: (tokens) => admission.release(tokens),
    onOverdrawn: (listener) => admission.onOverdrawn(listener),
  };
}
