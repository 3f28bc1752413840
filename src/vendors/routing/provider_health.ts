import type { Circuit, CircuitState } from "./circuit.ts";

/** The results of attempts since the start of the process. */
export interface AttemptCounts {
  /** Successful attempts. */
  succeeded: number;
  /** Attempts that failed because of the provider. */
  failed: number;
  /** Unix milliseconds; null if none failed. */
  lastFailedAt: number | null;
}

/** A circuit as shown to operators. */
export interface CircuitHealth {
  readonly state: CircuitState;
  readonly failuresInARow: number;
  /** Unix milliseconds at which the open time ends; null while closed. */
  readonly restsUntil: number | null;
  /** The account that it is open for; null if it is closed or open for every account. */
  readonly accountId: string | null;
}

/** One model at a provider. */
export interface ModelHealth extends CircuitHealth, Readonly<AttemptCounts> {
  /** The vendor's name of the model. */
  readonly model: string;
}

/**
 * The state of a provider. `degraded`: some of its circuits are open. `resting`: it cannot be reached, or the circuits
 * of all used models are open. `misconfigured`: its credential is rejected.
 */
export type ProviderState = "ready" | "degraded" | "resting" | "misconfigured";

/** A provider that was used since the start. */
export interface ProviderHealth extends Readonly<AttemptCounts> {
  readonly provider: string;
  readonly state: ProviderState;
  /** Unix milliseconds since which the credential is rejected; null while it is accepted. */
  readonly rejectedAt: number | null;
  /** The circuit of its connections. */
  readonly connection: CircuitHealth;
  readonly models: readonly ModelHealth[];
}

/** The sources of a provider's health. */
export interface HealthSources {
  readonly provider: string;
  readonly connection: Circuit;
  /** By the vendor's name of the model. */
  readonly models: ReadonlyMap<string, Readonly<AttemptCounts> & { readonly circuit: Circuit }>;
  readonly rejectedAt: number | null;
}

/** The health of one provider: its circuits, and the totals over its models. */
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

/** The state of a provider with several credentials; `degraded` if their states differ. */
export function jointStateOf(states: readonly ProviderState[]): ProviderState {
  const [first = "ready"] = states;
  return states.every((state) => state === first) ? first : "degraded";
}

/** The health of a provider with several credentials. The circuit of its connections is the worst of theirs. */
export function jointHealthOf(provider: string, credentials: readonly ProviderHealth[]): ProviderHealth {
  const rejected = credentials.flatMap(({ rejectedAt }) => rejectedAt ?? []);
  const failures = credentials.flatMap(({ lastFailedAt }) => lastFailedAt ?? []);
  const state = jointStateOf(credentials.map((each) => each.state));
  return {
    provider,
    state,
    rejectedAt: state === "misconfigured" ? Math.max(...rejected) : null,
    connection: worstCircuitOf(credentials.map(({ connection }) => connection)),
    models: credentials.flatMap(({ models }) => models),
    succeeded: credentials.reduce((sum, { succeeded }) => sum + succeeded, 0),
    failed: credentials.reduce((sum, { failed }) => sum + failed, 0),
    lastFailedAt: failures.length === 0 ? null : Math.max(...failures),
  };
}

/** The health of a provider that was not used since the start. */
export function unusedHealthOf(provider: string): ProviderHealth {
  const counts = { succeeded: 0, failed: 0, lastFailedAt: null };
  return { provider, state: "ready", rejectedAt: null, connection: CLOSED, models: [], ...counts };
}

const CLOSED: CircuitHealth = { state: "closed", failuresInARow: 0, restsUntil: null, accountId: null };

/** The circuit that blocks the most traffic; of equals, the one with more failures. */
export function worstCircuitOf(circuits: readonly CircuitHealth[]): CircuitHealth {
  const states = ["closed", "half_open", "open"];
  const badnessOf = ({ state, failuresInARow }: CircuitHealth) => states.indexOf(state) * 1e9 + failuresInARow;
  return circuits.reduce((worst, circuit) => badnessOf(circuit) > badnessOf(worst) ? circuit : worst, CLOSED);
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
