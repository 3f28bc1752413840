import type { Key } from "./store.ts";

/** What a process wants to lease of a limit. Units are whole. */
export interface ShareDemand {
  /** The limit, at least zero. */
  readonly limit: bigint;
  /** Whether used units are regained evenly within a minute, as those of a limit per minute. */
  readonly refills: boolean;
  /** What it has used since its last demand that succeeded. Without `refills`, the limit must be less by it instead. */
  readonly used: bigint;
  /** What it has reserved. It is leased whether it is free or not. */
  readonly kept: bigint;
  /** What it needs in addition. As much as is free is leased. */
  readonly wanted: bigint;
  /** Whether it gets a sixteenth of what else is free, for the next calls, if that is at least what it needs now. */
  readonly hasSpare: boolean;
  /** Refuses the demand if a lease got smaller since this was read. */
  readonly since?: ShareReading;
}

/** A leased part of a limit. */
export interface LeasedShare {
  readonly leased: bigint;
  /** Used units that are not regained. */
  readonly used: number;
  /** The sum of the leases of other processes. */
  readonly others: bigint;
}

/**
 * The leases of a limit, before the limit is computed. Values of one engine, of no meaning elsewhere. One is of use for
 * as long as a lease lasts.
 */
export interface ShareReading {
  readonly version: string;
  readonly at: number;
  readonly others: bigint;
}

/**
 * Leases of limits that several processes share: of rate, tokens, open calls and budgets. A process uses no more than
 * its lease, so together they use no more than the limit. A lease ends after `durationMs` unless it is replaced.
 */
export interface ShareLeases {
  /** From the moment when the demand is sent. */
  readonly durationMs: number;
  /**
   * Replaces the lease of this process. Null if the limit may have changed since `since`.
   * Rejects as the store does.
   */
  lease(name: Key, demand: ShareDemand): Promise<LeasedShare | null>;
  /** Reads the leases of a limit. Rejects as the store does. */
  read(name: Key): Promise<ShareReading>;
}
