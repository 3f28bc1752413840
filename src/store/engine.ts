import type { Store } from "./store.ts";
import type { WriteGuard } from "./write_health.ts";

/** A store that lives inside this process, with what its owner must do for it beside the port. */
export interface StoreEngine extends Store {
  /**
   * Tells commands that find the store in use where its gateway is reached, or, with null, that it is not. Does nothing
   * for a store in memory.
   */
  publishAddress(address: string | null): Promise<void>;
  /** Wakes the kinds that have overdue jobs, for alarms that were lost; called each minute. Gives how many kinds. */
  wakeOverdueJobs(): Promise<number>;
  /** Whether writes get through, for paid work that is about to begin. */
  readonly writeGuard: WriteGuard;
  /** Whether reads and writes get through: reads once and, after a failed write, tries a small one. Never rejects. */
  isReady(): Promise<boolean>;
}
