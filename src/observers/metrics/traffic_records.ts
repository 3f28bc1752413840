import type { Key } from "../../platform/store/store.ts";
import type { TrafficTotals } from "./traffic_totals.ts";

/** The traffic of one gateway in about half an hour, as it is stored. */
export interface StoredTraffic {
  /** Unix milliseconds. */
  readonly from: number;
  /** Unix milliseconds. */
  readonly to: number;
  readonly traffic: TrafficTotals;
}

/** The prefix of all {@linkcode StoredTraffic}, by the start. */
export const TRAFFIC: Key = ["traffic"];

/**
 * The key of a {@linkcode StoredTraffic}.
 *
 * @param process Differs for each process, since several can share a store.
 */
export const trafficKey = (from: number, process: string): Key => [...TRAFFIC, from, process];
