import type { UsageRollup } from "../../money/billing/usage/usage_rollup.ts";
import type { Store } from "../../platform/store/store.ts";
import type { TurnPace } from "../../platform/lib/streams/turn_pace.ts";
import type { Notification } from "./announce.ts";
import type { OpenCauses } from "./causes.ts";
import type { BalanceThreshold } from "./notifications_section.ts";
import type { SummaryBuilder } from "./summary.ts";

/** One pass over all accounts, keys and models. */
export interface Pass extends Pick<UsageRollup, "spentSince"> {
  readonly store: Store;
  /** Unix milliseconds: the time of the whole pass. */
  readonly now: number;
  readonly thresholds: readonly BalanceThreshold[];
  /** The open causes of the events that a pass ends. */
  readonly causes: Readonly<Record<"balance.low" | "budget.reached" | "key.expiring", OpenCauses>>;
  readonly summary: SummaryBuilder;
  /** Lets others work between accounts and keys. */
  readonly pace: TurnPace;
  readonly announce: (notification: Notification) => Promise<boolean>;
}
