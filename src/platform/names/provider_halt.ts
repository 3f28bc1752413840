/**
 * What an operator lets a provider do. `on`: everything. `drain`: it gets no new requests; what it has begun, and video
 * tasks that only it can make and that were accepted before, it still does. `off`: no new requests and no tasks that
 * wait.
 */
export const PROVIDER_STATES = ["on", "drain", "off"] as const;

/** One of {@linkcode PROVIDER_STATES}. */
export type OperatedState = typeof PROVIDER_STATES[number];

/** Why a provider gets no new requests. */
export interface ProviderHalt {
  /** Whether it still gets accepted work that waits. */
  readonly state: Exclude<OperatedState, "on">;
  /** The name of the admin key that halted it; null for `state` in the configuration. */
  readonly by: string | null;
  /** Unix milliseconds; null if it is not known. */
  readonly since: number | null;
}

/** A state that the admin API has set, as the store keeps it. It has precedence over that of the configuration. */
export interface StoredProviderState {
  /** The state that was set. */
  readonly state: OperatedState;
  /** The name of the admin key. */
  readonly by: string;
  /** Unix milliseconds. */
  readonly since: number;
  /** Why, in the words of the operator. Absent: no reason was given. */
  readonly reason?: string;
}
