import type { Handler, Route } from "../../http/inbound.ts";
import { secondsOf } from "../../lib/clock.ts";
import type { JsonObject } from "../../lib/json_object.ts";
import type { CircuitBreaker, ProviderHealth } from "../../routing/circuit_breaker.ts";
import { answerJson } from "./answer.ts";
import { guardedRoute } from "./guarded_route.ts";

/** A provider as it was configured, without its key. */
export interface ListedProvider {
  readonly name: string;
  readonly kind: string;
}

/** What the administration of providers works with. */
export interface AdminProviderOptions {
  /** The operator's key; empty: there is no administration. */
  readonly adminKey: string;
  /** In the order of the configuration. */
  readonly providers: readonly ListedProvider[];
  readonly breaker: Pick<CircuitBreaker, "health">;
  /** Since when attempts are counted, in Unix milliseconds. */
  readonly startedAt: number;
}

/** The addresses of the administration of providers: none without an admin key. */
export function adminProviderRoutes({ adminKey, ...parts }: AdminProviderOptions): Route[] {
  if (adminKey === "") return [];
  return [guardedRoute(adminKey, "/admin/v1/providers")("GET", "", listHandler(parts))];
}

/**
 * `GET /admin/v1/providers`: `{data, since}`, every configured provider with its circuit, which all its models share,
 * and the attempts since the start of this process.
 */
function listHandler({ providers, breaker, startedAt }: Omit<AdminProviderOptions, "adminKey">): Handler {
  return () => {
    const health = new Map(breaker.health().map((each) => [each.provider, each]));
    const data = providers.map((provider) => writeProvider(provider, health.get(provider.name)));
    return answerJson({ data, since: secondsOf(startedAt) });
  };
}

function writeProvider({ name, kind }: ListedProvider, health: ProviderHealth | undefined): JsonObject {
  return {
    name,
    kind,
    circuit: health?.state ?? "closed",
    failures_in_a_row: health?.failuresInARow ?? 0,
    rests_until: writeInstant(health?.state === "open" ? health.restsUntil : null),
    last_failure_at: writeInstant(health?.lastFailedAt ?? null),
    succeeded: health?.succeeded ?? 0,
    failed: health?.failed ?? 0,
  };
}

function writeInstant(at: number | null): number | null {
  return at === null ? null : secondsOf(at);
}
