import { GatewayError } from "../lib/gateway_error.ts";
import type { Money } from "../lib/money.ts";
import type { ReservationRule } from "./meter.ts";

/**
 * Reserves for a call that may be served by other models when the first fails: the most that any of them may cost, of
 * those that the balance covers. The limit of output tokens is the first one's.
 *
 * @param reserves At least one; of the others, those that do not fit are left out.
 */
export function highestReservation([first, ...others]: readonly ReservationRule[]): ReservationRule {
  if (others.length === 0) return first;
  return (spendable) => {
    const reserved = first(spendable);
    const amounts = others.map((other) => amountOrNothing(other, spendable));
    const amount = amounts.reduce((most, each) => each > most ? each : most, reserved.amount);
    return { ...reserved, amount };
  };
}

function amountOrNothing(reserve: ReservationRule, spendable: Money): Money {
  try {
    return reserve(spendable).amount;
  } catch (error) {
    if (error instanceof GatewayError && error.code === "insufficient_credits") return 0n;
    throw error;
  }
}
