import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import type { Money } from "../../../platform/lib/basics/money.ts";
import type { ReservationRule } from "./meter.ts";

/**
 * The reservation of a call that other models may serve when the first fails: the highest amount of those that the
 * balance covers. The limit of output tokens is that of the first.
 *
 * @param rules At least one. Of the others, those that do not fit are ignored.
 */
export function highestReservation(rules: readonly ReservationRule[]): ReservationRule {
  const [first, ...others] = rules;
  if (first === undefined) throw new RangeError("Cannot reserve: expected at least one rule");
  if (others.length === 0) return first;
  return (spendable) => {
    const reserved = first(spendable);
    const amounts = others.map((other) => amountOrZero(other, spendable));
    const amount = amounts.reduce((most, each) => each > most ? each : most, reserved.amount);
    return { ...reserved, amount };
  };
}

function amountOrZero(rule: ReservationRule, spendable: Money): Money {
  try {
    return rule(spendable).amount;
  } catch (error) {
    if (error instanceof GatewayError && error.code === "insufficient_credits") return 0n;
    throw error;
  }
}
