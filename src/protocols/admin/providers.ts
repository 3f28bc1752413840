import * as z from "zod";
import { OPERATOR_ENDPOINTS } from "../../platform/endpoints/operators.ts";
import { type Handler, type Inbound, pathParam } from "../../platform/http/request/inbound.ts";
import { secondsOf } from "../../platform/lib/basics/clock.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import { type OperatedState, PROVIDER_STATES } from "../../platform/names/provider_halt.ts";
import { credentialOf, providerIdOf } from "../../platform/names/provider_name.ts";
import type { AttemptSlots, SlotLoad } from "../../vendors/routing/attempt_slots.ts";
import type { CircuitBreaker } from "../../vendors/routing/circuit_breaker.ts";
import {
  type CircuitHealth,
  jointHealthOf,
  type ModelHealth,
  type ProviderHealth,
  unusedHealthOf,
  worstCircuitOf,
} from "../../vendors/routing/provider_health.ts";
import type { ServiceState } from "../../vendors/upstreams/settings/serving_providers.ts";
import type { ProviderCheck } from "../../vendors/upstreams/opening/provider_check.ts";
import type { PollLoad } from "../../services/videos/polling/provider_polls.ts";
import type { ReadJson } from "./accounts.ts";
import { answerJson } from "./shared/answer.ts";
import { readFields } from "./shared/fields.ts";
import { operatorOf } from "./admin_access.ts";
import { type AdminRoute, adminRoute } from "./shared/admin_route.ts";

/** A configured provider without its key. */
export interface ListedProvider {
  readonly name: string;
  readonly kind: string;
  /** The names of its credentials; empty without named credentials. */
  readonly credentials: readonly string[];
  /** What the operator lets it do. */
  readonly service: ServiceState;
}

/** The dependencies of the provider endpoints. */
export interface AdminProviderOptions {
  /** In the order of the configuration. */
  readonly providers: readonly ListedProvider[];
  readonly breaker: Pick<CircuitBreaker, "health">;
  /** The load of providers with limits. */
  readonly slots: Pick<AttemptSlots, "loadOf">;
  /** The polls of video jobs at a provider or credential; null without any. */
  readonly pollsOf: (id: string) => PollLoad | null;
  /** The start of the attempt counters in Unix milliseconds. */
  readonly startedAt: number;
  readonly test: TestProvider;
  /** Null if the configuration is not changed while the gateway runs. */
  readonly setState: SetProviderState | null;
  readonly readJson: ReadJson;
  readonly readOptionalJson: ReadJson;
}

/**
 * Sets the state of a provider, which has precedence over that of the configuration.
 *
 * @param state Null for that of the configuration.
 * @param change The name of the admin key that sets it, and its reason.
 * @throws {GatewayError} `not_found` if there is no such provider; `conflict` if the change could not be stored.
 */
export type SetProviderState = (
  name: string,
  state: OperatedState | null,
  change: { readonly by: string; readonly reason?: string },
) => Promise<ServiceState>;

/**
 * Tests a provider.
 *
 * @param credential The name of one of its credentials; null for all.
 * @throws {GatewayError} `not_found` if there is no such provider or credential.
 */
export type TestProvider = (name: string, credential: string | null) => Promise<readonly ProviderTest[]>;

/** The result of a test with one credential; null without named credentials. */
export interface ProviderTest extends Pick<ProviderCheck, "latencyMs"> {
  readonly credential: string | null;
  /** Whether the vendor accepts the credential. */
  readonly isOk: boolean;
  /** What was found and what to change, in one sentence without secrets. */
  readonly message: string;
  /** The number of models that the vendor lists; null if it was not read. */
  readonly models: number | null;
}

/** The provider endpoints of the admin API. */
export function adminProviderRoutes(parts: AdminProviderOptions): AdminRoute[] {
  return [
    adminRoute(OPERATOR_ENDPOINTS.listProviders, () => answerJson(writeProviders(parts))),
    adminRoute(OPERATOR_ENDPOINTS.testProvider, testHandler(parts), { isAudited: false }),
    ...stateRoutes(parts),
  ];
}

const MAX_REASON = 200;
const REASON_EXPECTATION = `text of 1 to ${MAX_REASON} characters`;

/** The body of `PUT …/:provider/state`. */
export const NewProviderState = z.strictObject({
  state: z.enum(PROVIDER_STATES, `"${PROVIDER_STATES.join('", "')}"`),
  reason: z.string(REASON_EXPECTATION).trim().min(1, REASON_EXPECTATION).max(MAX_REASON, REASON_EXPECTATION).nullish(),
});

/**
 * `PUT /admin/v1/providers/:provider/state` with `{state, reason?}`, and `DELETE` for the state of the configuration.
 * Both answer `{provider, state, by, since, reason}`.
 */
function stateRoutes({ setState, providers, readJson }: AdminProviderOptions): AdminRoute[] {
  const change = async (inbound: Inbound, state: OperatedState | null, reason: string | null = null) => {
    if (setState === null) {
      throw new GatewayError("conflict", "The configuration of this gateway does not change while it runs");
    }
    const provider = pathParam(inbound.params, "provider");
    const set = await setState(provider, state, { by: operatorOf(inbound), ...reason !== null && { reason } });
    return answerJson({ provider, ...writeService(set) });
  };
  const snapshot = ({ params }: Inbound) => {
    const name = pathParam(params, "provider");
    const found = providers.find((each) => each.name === name);
    return Promise.resolve(found === undefined ? null : { provider: name, ...writeService(found.service) });
  };
  return [
    adminRoute(OPERATOR_ENDPOINTS.setProviderState, async (inbound) => {
      const { state, reason = null } = readFields(NewProviderState, await readJson(inbound));
      return await change(inbound, state, reason);
    }, { snapshot }),
    adminRoute(OPERATOR_ENDPOINTS.resetProviderState, async (inbound) => {
      await inbound.request.body?.cancel();
      return await change(inbound, null);
    }, { snapshot }),
  ];
}

function writeService({ state, by, since, reason }: ServiceState): JsonObject {
  return { state, by, since: writeInstant(since), reason: reason ?? null };
}

/**
 * What `GET /admin/v1/providers` answers: `{data, since}`, every configured provider and credential with its state, its
 * circuits, its limits, and the attempts since the start of this process.
 */
export function writeProviders(
  { providers, breaker, slots, pollsOf, startedAt }: Omit<
    AdminProviderOptions,
    "test" | "setState" | "readJson" | "readOptionalJson"
  >,
): JsonObject {
  const health = new Map(breaker.health().map((each) => [each.provider, each]));
  const healthOf = (id: string) => health.get(id) ?? unusedHealthOf(id);
  const loadsOf = (id: string) => ({ limits: writeLoad(slots.loadOf(id)), polls: writePolls(pollsOf(id)) });
  const data = providers.map(({ name, kind, credentials, service }) => {
    const ids = credentials.map((credential) => providerIdOf(name, credential));
    const own = ids.length === 0 ? healthOf(name) : jointHealthOf(name, ids.map(healthOf));
    const each = ids.map((id) => ({ name: credentialOf(id), ...writeHealth(healthOf(id)), ...loadsOf(id) }));
    return { name, kind, service: writeService(service), ...writeHealth(own), ...loadsOf(name), credentials: each };
  });
  return { data, since: secondsOf(startedAt) };
}

/** The body of `POST …/:provider/test`. */
export const TestedCredential = z.strictObject({ credential: z.string().nullish() });

/**
 * `POST /admin/v1/providers/:provider/test` with `{credential}`, which may be absent: `{provider, ok, data}` with a
 * result for each credential. The vendor is called.
 */
function testHandler({ test, readOptionalJson }: Pick<AdminProviderOptions, "test" | "readOptionalJson">): Handler {
  return async (inbound) => {
    const name = pathParam(inbound.params, "provider");
    const { credential = null } = readFields(TestedCredential, await readOptionalJson(inbound));
    return answerJson(writeTests(name, await test(name, credential)));
  };
}

/** The results of tests of a provider. */
export function writeTests(provider: string, tests: readonly ProviderTest[]): JsonObject {
  const data = tests.map(({ credential, isOk, message, latencyMs, models }) => ({
    credential,
    ok: isOk,
    message,
    latency_ms: latencyMs,
    models,
  }));
  return { provider, ok: tests.every(({ isOk }) => isOk), data };
}

function writeHealth({ state, rejectedAt, connection, models, succeeded, failed, lastFailedAt }: ProviderHealth) {
  return {
    state,
    misconfigured_since: writeInstant(rejectedAt),
    ...writeCircuit(worstCircuitOf([connection, ...models])),
    connection: writeCircuit(connection),
    models: models.map(writeModel),
    last_failure_at: writeInstant(lastFailedAt),
    succeeded,
    failed,
  };
}

/** Null for a provider without limits. */
function writeLoad(load: SlotLoad | null): JsonObject | null {
  if (load === null) return null;
  const { limits: { rpm = null, tpm = null, concurrency = null, maxWaitMs }, open, waiting } = load;
  return { rpm, tpm, concurrency, max_wait: maxWaitMs / 1_000, open, waiting };
}

/** Null for a provider at which no video job was polled. */
function writePolls(load: PollLoad | null): JsonObject | null {
  if (load === null) return null;
  const { perSecond, tasks, open, pausedUntil } = load;
  return { per_second: perSecond, tasks, open, paused_until: writeInstant(pausedUntil) };
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
