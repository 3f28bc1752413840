import type { Clock } from "../../platform/lib/basics/clock.ts";
import { holdState } from "../../platform/lib/basics/held.ts";
import { chain, type MaybePromise } from "../../platform/lib/basics/maybe_promise.ts";
import { providerNameOf } from "../../platform/names/provider_name.ts";
import type { WaitingLimits } from "../upstreams/settings/provider_limits.ts";
import { type Slot, SlotQueue, type SlotRequest } from "./slot_queue.ts";
import type { SlotSharesOptions } from "./slot_shares.ts";

/**
 * Limits the attempts at each provider, and shares them fairly among accounts: see {@linkcode SlotQueue}. An attempt
 * takes a slot before the vendor is called and returns it at the end of the reply.
 */
export interface AttemptSlots {
  /** Whether a provider has limits. If not, `take` need not be called. */
  hasLimits: boolean;
  /**
   * Takes a slot of a provider, and one of its credential if both have limits. The result is immediate if a slot is
   * free, and null if neither has limits.
   *
   * A promise rejects with an `UpstreamFailure`: `rate_limited` if no slot is free in time or too many attempts wait,
   * so that the next candidate is tried, and `cancelled` if the caller disconnects.
   */
  take(id: string, request: SlotRequest): MaybePromise<Slot> | null;
  /** The numbers of open and waiting attempts of a provider or a credential; null if it has no limits. */
  loadOf(id: string): SlotLoad | null;
}

/** The slots of a process, which follow changes of the configuration. */
export interface ProcessAttemptSlots extends AttemptSlots {
  /** Replaces the limits. Attempts that have a slot keep it, and count. */
  setLimits(limits: LimitsByProvider): void;
  /** The number of attempts that wait at each provider with limits, those at its credentials included. */
  waitingByProvider(): ReadonlyMap<string, number>;
  /** Returns what this process leases of limits that others have too. No attempt follows. Never rejects. */
  close(): Promise<void>;
}

/** The load of one provider. */
export interface SlotLoad {
  readonly limits: WaitingLimits;
  /** Attempts that have a slot. */
  readonly open: number;
  /** Attempts that wait for one. */
  readonly waiting: number;
}

/** The limits of providers by name and of credentials by id; only of those that have limits. */
export type LimitsByProvider = ReadonlyMap<string, WaitingLimits>;

/** What was not used between two looks is returned to the other processes. */
const LEASE_CHECK_INTERVAL_MS = 3_000;

/**
 * Creates the slots of all providers with limits.
 *
 * @param shared How other processes have the limits too; null if none do.
 */
export function createAttemptSlots(
  limits: LimitsByProvider,
  clock: Clock,
  shared: Omit<SlotSharesOptions, "clock"> | null = null,
): ProcessAttemptSlots {
  let queues = new Map<string, SlotQueue>();
  let stopRenewal = () => {};
  const newQueue = (id: string, each: WaitingLimits) =>
    new SlotQueue(id, each, clock, shared === null ? null : { ...shared, clock });
  const renewAll = async (isLast: boolean) => {
    await Promise.all([...queues.values()].map((queue) => queue.renewShares(isLast)));
  };
  function renewLater(): void {
    stopRenewal = clock.after(LEASE_CHECK_INTERVAL_MS, () => {
      holdState(renewAll(false), "shares of limits");
      renewLater();
    });
  }
  const slots: ProcessAttemptSlots = {
    hasLimits: false,
    take(id, request) {
      const name = providerNameOf(id);
      const shared = queues.get(name) ?? null;
      const own = name === id ? null : queues.get(id) ?? null;
      if (own === null || shared === null) return (own ?? shared)?.take(request) ?? null;
      return takeBoth(own, shared, request);
    },
    loadOf(id) {
      const queue = queues.get(id);
      return queue === undefined ? null : { limits: queue.limits, open: queue.open, waiting: queue.waiting };
    },
    waitingByProvider() {
      const waiting = new Map<string, number>();
      for (const [id, queue] of queues) {
        const name = providerNameOf(id);
        waiting.set(name, (waiting.get(name) ?? 0) + queue.waiting);
      }
      return waiting;
    },
    setLimits(next) {
      const before = queues;
      queues = new Map([...next].map(([name, each]) => [name, before.get(name) ?? newQueue(name, each)]));
      for (const [name, queue] of queues) queue.setLimits(next.get(name)!);
      for (const [name, queue] of before) if (!queues.has(name)) queue.setLimits({ maxWaitMs: 0 });
      slots.hasLimits = queues.size > 0;
    },
    async close() {
      stopRenewal();
      await renewAll(true);
    },
  };
  slots.setLimits(limits);
  if (shared !== null) renewLater();
  return slots;
}

/** Takes a slot of the credential, then one of its provider. All wait in this order, so none blocks another. */
function takeBoth(own: SlotQueue, shared: SlotQueue, request: SlotRequest): MaybePromise<Slot> {
  return chain(own.take(request), (first) => takeSecond(first, shared, request));
}

function takeSecond(first: Slot, shared: SlotQueue, request: SlotRequest): MaybePromise<Slot> {
  return chain(shared.take(request), (second) => joined(first, second), (error) => {
    first.end(0);
    throw error;
  });
}

function joined(first: Slot, second: Slot): Slot {
  return {
    end(usedTokens) {
      first.end(usedTokens);
      second.end(usedTokens);
    },
  };
}
