import type { Circuit, CircuitState } from "./circuit.ts";

/** What attempts came to since the start of the process. */
export interface AttemptCounts {
  /** Attempts that the provider answered. */
  succeeded: number;
  /** Attempts that failed by the provider's fault. */
  failed: number;
  /** Unix milliseconds; null when none failed. */
  lastFailedAt: number | null;
}

/** One circuit, as an operator is shown it. */
export interface CircuitHealth {
  readonly state: CircuitState;
  readonly failuresInARow: number;
  /** Unix milliseconds when the rest ends; null while closed. */
  readonly restsUntil: number | null;
  /** The one account that it is open for; null when it is closed or open for every account. */
  readonly accountId: string | null;
}

/** One model at a provider. */
export interface ModelHealth extends CircuitHealth, Readonly<AttemptCounts> {
  /** The vendor's name of it. */
  readonly model: string;
}

/**
 * How much of a provider is in use. `degraded`: a circuit of it is open, but others are closed. `resting`: it is not
 * reached, or the circuits of all its models that were tried are open. `misconfigured`: its credential is rejected.
 */
export type ProviderState = "ready" | "degraded" | "resting" | "misconfigured";

/** One provider that was tried since the start. */
export interface ProviderHealth extends Readonly<AttemptCounts> {
  readonly provider: string;
  readonly state: ProviderState;
  /** Unix milliseconds since when the credential is rejected; null while it is not. */
  readonly rejectedAt: number | null;
  /** The circuit of its connections. */
  readonly connection: CircuitHealth;
  readonly models: readonly ModelHealth[];
}

/** What a provider's health is read from. */
export interface HealthSources {
  readonly provider: string;
  readonly connection: Circuit;
  /** By the vendor's name of the model. */
  readonly models: ReadonlyMap<string, Readonly<AttemptCounts> & { readonly circuit: Circuit }>;
  readonly rejectedAt: number | null;
}

/** The health of one provider: its circuits, and the sums over its models. */
export function providerHealthOf({ provider, connection, models: tried, rejectedAt }: HealthSources): ProviderHealth {
  const models = [...tried].map(([model, { circuit, succeeded, failed, lastFailedAt }]) => ({
    model,
    ...circuitHealthOf(circuit),
    succeeded,
    failed,
    lastFailedAt,
  }));
  const failures = models.flatMap(({ lastFailedAt }) => lastFailedAt ?? []);
  const health = { provider, rejectedAt, connection: circuitHealthOf(connection), models };
  return {
    ...health,
    state: stateOf(health),
    succeeded: models.reduce((sum, { succeeded }) => sum + succeeded, 0),
    failed: models.reduce((sum, { failed }) => sum + failed, 0),
    lastFailedAt: failures.length === 0 ? null : Math.max(...failures),
  };
}

function circuitHealthOf({ state, failuresInARow, restsUntil, accountId }: Circuit): CircuitHealth {
  return { state, failuresInARow, restsUntil, accountId };
}

function stateOf(health: Pick<ProviderHealth, "rejectedAt" | "connection" | "models">): ProviderState {
  if (health.rejectedAt !== null) return "misconfigured";
  if (health.connection.state !== "closed") return "resting";
  // A circuit that is open for one account serves all others.
  const open = health.models.filter(({ state, accountId }) => state !== "closed" && accountId === null);
  if (open.length === 0) return "ready";
  return open.length === health.models.length ? "resting" : "degraded";
}
