import type { FilesUsage } from "../files/quota.ts";
import type { Handler } from "../http/inbound.ts";
import type { CircuitBreaker } from "../routing/circuit_breaker.ts";

/** What readiness is told by. */
export interface ReadinessParts {
  /** Whether the process can take work. */
  readonly isReady: () => Promise<boolean>;
  /** Why it cannot, where that is known; asked when it is not ready. */
  readonly reason: () => string | null;
  /** The names of the configured providers. */
  readonly providers: readonly string[];
  readonly breaker: Pick<CircuitBreaker, "health">;
  /** What copies of results take up. */
  readonly filesUsage: () => FilesUsage;
}

/**
 * `GET /readyz`: 200 when the process can take work, else 503. `?verbose` gives JSON with the state of every provider,
 * and how full the files are. Neither changes the status: every gateway of a fleet has the same providers, and a
 * restart mends none; and while files are full, results are served from their vendors.
 */
export function readinessHandler({ isReady, reason, providers, breaker, filesUsage }: ReadinessParts): Handler {
  return async ({ query }) => {
    const ready = await isReady();
    const status = ready ? 200 : 503;
    if (!new URLSearchParams(query).has("verbose")) {
      return new Response(ready ? "ready\n" : notReady(reason()), { status });
    }
    const states = new Map(breaker.health().map(({ provider, state }) => [provider, state]));
    const listed = providers.map((name) => ({ name, state: states.get(name) ?? "ready" }));
    const why = ready ? {} : { reason: reason() };
    const { bytes, quotaBytes, state } = filesUsage();
    const files = { bytes, quota_bytes: quotaBytes, state };
    return Response.json({ status: ready ? "ready" : "not_ready", ...why, providers: listed, files }, { status });
  };
}

function notReady(reason: string | null): string {
  return reason === null ? "not ready\n" : `not ready: ${reason}\n`;
}
