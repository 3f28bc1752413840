import type { Handler } from "./http/inbound.ts";
import type { CircuitBreaker } from "./routing/circuit_breaker.ts";

/** What readiness is told by. */
export interface ReadinessParts {
  /** Whether the process can take work. */
  readonly isReady: () => Promise<boolean>;
  /** Why it cannot, where that is known; asked when it is not ready. */
  readonly reason: () => string | null;
  /** The names of the configured providers. */
  readonly providers: readonly string[];
  readonly breaker: Pick<CircuitBreaker, "health">;
}

/**
 * `GET /readyz`: 200 when the process can take work, else 503. `?verbose` gives JSON with the state of every provider.
 * The providers never change the status: every gateway of a fleet has the same ones, and a restart mends none.
 */
export function readinessHandler({ isReady, reason, providers, breaker }: ReadinessParts): Handler {
  return async ({ query }) => {
    const ready = await isReady();
    const status = ready ? 200 : 503;
    if (!new URLSearchParams(query).has("verbose")) {
      return new Response(ready ? "ready\n" : notReady(reason()), { status });
    }
    const states = new Map(breaker.health().map(({ provider, state }) => [provider, state]));
    const listed = providers.map((name) => ({ name, state: states.get(name) ?? "ready" }));
    const why = ready ? {} : { reason: reason() };
    return Response.json({ status: ready ? "ready" : "not_ready", ...why, providers: listed }, { status });
  };
}

function notReady(reason: string | null): string {
  return reason === null ? "not ready\n" : `not ready: ${reason}\n`;
}
