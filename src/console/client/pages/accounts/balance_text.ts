import { dollars } from "../../format.ts";
import type { Account } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";

/** The balance of an account, or that nothing limits it. */
export function balanceText({ balance, unlimited }: Pick<Account, "balance" | "unlimited">): string {
  return unlimited ? TEXTS.accounts.unlimited : dollars(balance);
}
