import type { Clock } from "../lib/clock.ts";
import type { WaitingLimits } from "../upstreams/provider_limits.ts";
import { type Slot, SlotQueue, type SlotRequest } from "./slot_queue.ts";

/**
 * Limits the attempts at each provider, and shares them fairly among accounts: see {@linkcode SlotQueue}. An attempt
 * takes a slot before the vendor is called and returns it at the end of the reply.
 */
export interface AttemptSlots {
  /** Whether a provider has limits. If not, `take` need not be called. */
  hasLimits: boolean;
  /**
   * Takes a slot of a provider. The result is immediate if a slot is free, and null if the provider has no limits.
   *
   * A promise rejects with an `UpstreamFailure`: `rate_limited` if no slot is free in time or too many attempts wait,
   * so that the next candidate is tried, and `cancelled` if the caller disconnects.
   */
  take(provider: string, request: SlotRequest): Slot | Promise<Slot> | null;
  /** The numbers of a provider's open and waiting attempts; null if the provider has no limits. */
  loadOf(provider: string): SlotLoad | null;
}

/** The slots of a process, which follow changes of the configuration. */
export interface ProcessAttemptSlots extends AttemptSlots {
  /** Replaces the limits. Attempts that have a slot keep it, and count. */
  setLimits(limits: LimitsByProvider): void;
}

/** The load of one provider. */
export interface SlotLoad {
  readonly limits: WaitingLimits;
  /** Attempts that have a slot. */
  readonly open: number;
  /** Attempts that wait for one. */
  readonly waiting: number;
}

/** The limits of the providers by name; only of those that have limits. */
export type LimitsByProvider = ReadonlyMap<string, WaitingLimits>;

/** Creates the slots of all providers with limits. */
export function createAttemptSlots(limits: LimitsByProvider, clock: Clock): ProcessAttemptSlots {
  let queues = new Map<string, SlotQueue>();
  const slots: ProcessAttemptSlots = {
    hasLimits: false,
    take: (provider, request) => queues.get(provider)?.take(request) ?? null,
    loadOf(provider) {
      const queue = queues.get(provider);
      return queue === undefined ? null : { limits: queue.limits, open: queue.open, waiting: queue.waiting };
    },
    setLimits(next) {
      const before = queues;
      queues = new Map([...next].map(([name, each]) => [name, before.get(name) ?? new SlotQueue(name, each, clock)]));
      for (const [name, queue] of queues) queue.setLimits(next.get(name)!);
      for (const [name, queue] of before) if (!queues.has(name)) queue.setLimits({ maxWaitMs: 0 });
      slots.hasLimits = queues.size > 0;
    },
  };
  slots.setLimits(limits);
  return slots;
}
