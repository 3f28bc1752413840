import type { Clock } from "../../platform/lib/basics/clock.ts";
import type { Log } from "../../platform/lib/basics/log.ts";
import type { Late } from "../../platform/lib/process/late.ts";
import type { EgressPolicy } from "../../platform/net/target.ts";
import type { JobStore } from "../../platform/store/store.ts";
import type { PostEvent } from "./attempt.ts";
import type { TestReceivers } from "./test_receivers.ts";

/** Dependencies of the webhooks. */
export interface WebhookParts {
  readonly store: JobStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Policy for the callers' addresses. It can change, and is read for each delivery. */
  readonly egress: EgressPolicy;
  /** Receivers inside the gateway. Default: none. */
  readonly receivers?: Pick<Late<TestReceivers>, "loaded">;
  /** Timeout of one attempt, from the name lookup to the response headers. */
  readonly timeoutMs: number;
  /** Returns a uniform random number in [0, 1). */
  readonly random: () => number;
  /** Default: a guarded POST over kept-alive connections; tests replace it. */
  readonly post?: PostEvent;
}
