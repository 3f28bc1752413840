import { type Clock, sleep } from "../../../platform/lib/basics/clock.ts";
import type { Money } from "../../../platform/lib/basics/money.ts";
import type { StoreEngine } from "../../../platform/store/engine.ts";

/** The other gateways on a store. */
export interface OtherGateways {
  /** Resolves when they refuse the keys of an account that was suspended before the call. */
  untilKeysRefused(): Promise<void>;
  /** What their open calls have reserved of the credit of an account. Rejects as the store does. */
  leasedOf(account: string): Promise<Money>;
}

/** Keys are cached for five seconds. */
const KEYS_REFUSED_MS = 6_000;

/** The other gateways on a store; null if there are none now. */
export function otherGatewaysOn({ gateways, moneyLeases }: StoreEngine, clock: Clock): OtherGateways | null {
  if (gateways === undefined || moneyLeases === undefined || gateways() < 2) return null;
  return {
    untilKeysRefused: () => sleep(clock, KEYS_REFUSED_MS),
    leasedOf: async (account) => (await moneyLeases.read(account)).others,
  };
}
