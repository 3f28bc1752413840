import type { Handler, Route } from "../../http/inbound.ts";
import { secondsOf } from "../../lib/clock.ts";
import type { JsonObject } from "../../lib/json_object.ts";
import type { AttemptSlots, SlotLoad } from "../../routing/attempt_slots.ts";
import type { CircuitBreaker } from "../../routing/circuit_breaker.ts";
import type { CircuitHealth, ModelHealth, ProviderHealth } from "../../routing/provider_health.ts";
import { answerJson } from "./answer.ts";
import { guardedRoute } from "./guarded_route.ts";

/** A configured provider without its key. */
export interface ListedProvider {
  readonly name: string;
  readonly kind: string;
}

/** The dependencies of the provider endpoints. */
export interface AdminProviderOptions {
  /** The operator's key; if empty, the admin API is disabled. */
  readonly adminKey: string;
  /** In the order of the configuration. */
  readonly providers: readonly ListedProvider[];
  readonly breaker: Pick<CircuitBreaker, "health">;
  /** The load of providers with limits. */
  readonly slots: Pick<AttemptSlots, "loadOf">;
  /** The start of the attempt counters in Unix milliseconds. */
  readonly startedAt: number;
}

/** The provider endpoints of the admin API; empty without an admin key. */
export function adminProviderRoutes({ adminKey, ...parts }: AdminProviderOptions): Route[] {
  if (adminKey === "") return [];
  return [guardedRoute(adminKey, "/admin/v1/providers")("GET", "", listHandler(parts))];
}

/**
 * `GET /admin/v1/providers`: `{data, since}`, every configured provider with its state, its circuits, and the attempts
 * since the start of this process.
 */
function listHandler({ providers, breaker, slots, startedAt }: Omit<AdminProviderOptions, "adminKey">): Handler {
  return () => {
    const health = new Map(breaker.health().map((each) => [each.provider, each]));
    const data = providers.map((provider) => ({
      ...writeProvider(provider, health.get(provider.name)),
      limits: writeLoad(slots.loadOf(provider.name)),
    }));
    return answerJson({ data, since: secondsOf(startedAt) });
  };
}

const UNTRIED: CircuitHealth = { state: "closed", failuresInARow: 0, restsUntil: null, accountId: null };

function writeProvider({ name, kind }: ListedProvider, health: ProviderHealth | undefined): JsonObject {
  const connection = health?.connection ?? UNTRIED;
  return {
    name,
    kind,
    state: health?.state ?? "ready",
    misconfigured_since: writeInstant(health?.rejectedAt ?? null),
    ...writeCircuit(worstOf([connection, ...health?.models ?? []])),
    connection: writeCircuit(connection),
    models: (health?.models ?? []).map(writeModel),
    last_failure_at: writeInstant(health?.lastFailedAt ?? null),
    succeeded: health?.succeeded ?? 0,
    failed: health?.failed ?? 0,
  };
}

/** The circuit that blocks the most traffic; of equals, the one with more failures. */
function worstOf(circuits: readonly CircuitHealth[]): CircuitHealth {
  const states = ["closed", "half_open", "open"];
  const badnessOf = ({ state, failuresInARow }: CircuitHealth) => states.indexOf(state) * 1e9 + failuresInARow;
  return circuits.reduce((worst, circuit) => badnessOf(circuit) > badnessOf(worst) ? circuit : worst);
}

/** Null for a provider without limits. */
function writeLoad(load: SlotLoad | null): JsonObject | null {
  if (load === null) return null;
  const { limits: { rpm = null, tpm = null, concurrency = null, maxWaitMs }, open, waiting } = load;
  return { rpm, tpm, concurrency, max_wait: maxWaitMs / 1_000, open, waiting };
}

function writeModel(health: ModelHealth): JsonObject {
  return {
    model: health.model,
    ...writeCircuit(health),
    open_for: health.accountId,
    last_failure_at: writeInstant(health.lastFailedAt),
    succeeded: health.succeeded,
    failed: health.failed,
  };
}

function writeCircuit({ state, failuresInARow, restsUntil }: CircuitHealth): JsonObject {
  return {
    circuit: state,
    failures_in_a_row: failuresInARow,
    rests_until: writeInstant(state === "open" ? restsUntil : null),
  };
}

function writeInstant(at: number | null): number | null {
  return at === null ? null : secondsOf(at);
}
