import { GatewayError } from "../lib/gateway_error.ts";
import type { Money } from "../lib/money.ts";
import type { ChargeRow } from "./charge.ts";
import { Purse, type PurseOptions } from "./purse.ts";

/** What a call cost in the end. */
export type Charge = Omit<ChargeRow, "at">;

/** A call that was let in. Of all calls of its two functions, the first counts. */
export interface Admission {
  /**
   * Charges the call; resolves once that is durable, at once when the amount is zero.
   *
   * @throws {RangeError} If the amount is below zero.
   * @throws {GatewayError} `internal_error` when the store does not take the charge after several tries; it is
   * logged as `charge_lost` then.
   */
  charge(charge: Charge): Promise<void>;
  /** Ends the call without a charge. */
  release(): void;
}

/** Lets calls in by what their account can pay, and charges them at their end. */
export interface Meter {
  /**
   * Lets a call in: at once when the balance is known, else as a promise.
   *
   * @param estimate What the call may come to at most, as far as can be told; from zero.
   * @throws {GatewayError} `insufficient_credits` when the balance less the estimates of the account's other open
   * calls is zero or below, so that a lone call passes with any positive balance.
   */
  admit(accountId: string, estimate: Money): Admission | Promise<Admission>;
  /** To be called when something else moved an account's money: the balance is read anew before the next call. */
  invalidate(accountId: string): void;
  /** Resolves when every charge so far is durable or lost; for the end of the process. */
  flush(): Promise<void>;
}

/** What a meter works with. */
export interface MeterOptions extends Omit<PurseOptions, "lingerMs"> {
  /** How long a charge waits for others to share its commit; 0, the default, only while a commit is under way. */
  readonly lingerMs?: number;
}

const READ_EVERY_MS = 1_000;
const TRUSTED_MS = 5_000;
const MOST_PURSES = 10_000;

/**
 * A meter over the store. No call waits for the store unless its account was not seen for five seconds: balances are
 * mirrored, read anew at most once a second in the background, and in between kept exact by the meter's own charges.
 * A call is never refused by a mirror that is older than a second.
 *
 * How far an account can be overdrawn: admitted estimates never exceed the balance by more than the last of them, so
 * where no call costs more than its estimate the overdraft is below one call's estimate. To that comes what calls
 * cost beyond their estimates, and what holds and other processes take from the balance while calls are open, at
 * most those calls' estimates.
 */
export function createMeter({ lingerMs = 0, ...options }: MeterOptions): Meter {
  const purses = new Map<string, Purse>();

  function purseOf(accountId: string): Purse {
    let purse = purses.get(accountId);
    if (!purse) {
      if (purses.size >= MOST_PURSES) dropIdle(purses);
      purse = new Purse(accountId, { ...options, lingerMs });
      purses.set(accountId, purse);
    }
    return purse;
  }

  async function admitAfterReading(purse: Purse, estimate: Money): Promise<Admission> {
    purse.users++;
    try {
      // Read again when the money was moved by others during the read; they do not move it for ever.
      do await purse.read(); while (purse.ageMs === Infinity);
      if (purse.spendable <= 0n) throw insufficientCredits();
      return admission(purse, estimate, options);
    } finally {
      purse.users--;
    }
  }

  return {
    admit(accountId, estimate) {
      if (estimate < 0n) throw new RangeError(`Cannot estimate a call below zero: got ${estimate}`);
      const purse = purseOf(accountId);
      const { ageMs } = purse;
      const isPayable = purse.spendable > 0n;
      if (ageMs >= TRUSTED_MS || (!isPayable && ageMs >= READ_EVERY_MS)) return admitAfterReading(purse, estimate);
      if (!isPayable) throw insufficientCredits();
      // A failure shows itself when the balance becomes too old to be trusted.
      if (ageMs >= READ_EVERY_MS) purse.read().catch(() => {});
      return admission(purse, estimate, options);
    },
    invalidate: (accountId) => purses.get(accountId)?.invalidate(),
    async flush() {
      await Promise.all([...purses.values()].map((purse) => purse.settle()));
    },
  };
}

function admission(purse: Purse, estimate: Money, { clock, log }: Pick<MeterOptions, "clock" | "log">): Admission {
  let ended: Promise<void> | null = null;
  purse.users++;
  purse.reserve(estimate);

  function end(charged: Promise<void>): Promise<void> {
    purse.unreserve(estimate);
    purse.users--;
    return ended = charged;
  }

  return {
    charge(charge) {
      const { amount, requestId } = charge;
      if (amount < 0n) return Promise.reject(new RangeError(`Cannot charge an amount below zero: got ${amount}`));
      if (ended) {
        log.error("charge_ignored", { accountId: purse.account, requestId, reason: "the call had ended" });
        return ended;
      }
      // Charged before the reservation ends, so that nobody comes in between.
      return end(amount === 0n ? Promise.resolve() : purse.charge({ ...charge, at: clock.now() }));
    },
    release() {
      if (!ended) void end(Promise.resolve());
    },
  };
}

function insufficientCredits(): GatewayError {
  return new GatewayError("insufficient_credits", "Cannot accept the request: the balance is used up");
}

/** Makes room by the first purse that nobody uses; without one the map grows with the calls under way. */
function dropIdle(purses: Map<string, Purse>): void {
  for (const [accountId, purse] of purses) {
    if (purse.isIdle) {
      purses.delete(accountId);
      return;
    }
  }
}
