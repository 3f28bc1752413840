import type { AdminAccess } from "../opening/admin_access.ts";
import type { FilesUsage } from "../../../platform/files/quota.ts";
import type { Handler, Inbound } from "../../../platform/http/request/inbound.ts";
import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import type { OperatedState } from "../../../platform/names/provider_halt.ts";
import { unhandledErrors } from "../../../platform/lib/process/unhandled.ts";
import { requireRole } from "../../../protocols/admin/admin_access.ts";
import type { CircuitBreaker } from "../../../vendors/routing/circuit_breaker.ts";
import { jointStateOf } from "../../../vendors/routing/provider_health.ts";

/** Options of {@linkcode readinessHandler}. */
export interface ReadinessOptions {
  /** Whether the gateway accepts work. */
  readonly isReady: () => Promise<boolean>;
  /** Why it does not, if known. Called only if it is not ready. */
  readonly reason: () => string | null;
  /** The names of the configured providers, each with its ids: its own, or those with its credentials. */
  readonly providers: readonly {
    readonly name: string;
    readonly ids: readonly string[];
    /** What the operator lets it do. */
    readonly service: OperatedState;
  }[];
  readonly breaker: Pick<CircuitBreaker, "health">;
  /** How the clocks of the store and of this machine differ, if they do by more than some seconds. */
  readonly clockDifference: () => string | null;
  /** The disk space of copies of results. */
  readonly filesUsage: () => FilesUsage;
  /**
   * Passes a request that may see details; null if all may.
   *
   * @throws {GatewayError}
   */
  readonly authorize: ((inbound: Inbound) => Promise<unknown>) | null;
}

/** The state of the process that decides whether it accepts work. */
interface ReadyState {
  readonly isDraining: boolean;
  /** Empty until the process listens, if the configuration states no address. */
  readonly baseUrl: string;
}

/** Decides whether the gateway accepts work. Threads can answer before the process has noted its own address. */
export function readinessOf(
  state: ReadyState,
  store: { isReady(): Promise<boolean>; readonly writeGuard: { readonly failure: string | null } },
): Pick<ReadinessOptions, "isReady" | "reason"> {
  return {
    isReady: async () => !state.isDraining && state.baseUrl !== "" && await store.isReady(),
    reason() {
      if (state.isDraining) return "the gateway is shutting down";
      if (state.baseUrl === "") return "the gateway does not know its own address yet";
      return store.writeGuard.failure;
    },
  };
}

/** Returns a check that a request has an admin key with the role `read`. */
export function needsAdminKey(access: AdminAccess | null): NonNullable<ReadinessOptions["authorize"]> {
  return async (inbound) => {
    if (access !== null) return await requireRole(inbound, "read", access);
    throw new GatewayError("unauthorized", "Cannot show details: the gateway has no admin key");
  };
}

/**
 * `GET /readyz`: 200 if the gateway accepts work, else 503. `?verbose` adds JSON with the state of each provider and of
 * the files, and the number of unhandled errors, for those who may see it. None affects the status. All gateways of a
 * fleet have the same providers, and a restart does not repair them. While files are full, results are served from
 * their vendors.
 */
export function readinessHandler(options: ReadinessOptions): Handler {
  const { isReady, reason, providers, breaker, clockDifference, filesUsage, authorize } = options;
  return async (inbound) => {
    const isVerbose = new URLSearchParams(inbound.query).has("verbose");
    if (isVerbose && authorize !== null) await authorize(inbound);
    const ready = await isReady();
    const status = ready ? 200 : 503;
    if (!isVerbose) {
      const difference = clockDifference();
      const warning = difference === null ? "" : `warning: ${difference}\n`;
      return new Response((ready ? "ready\n" : notReady(reason())) + warning, { status });
    }
    const states = new Map(breaker.health().map(({ provider, state }) => [provider, state]));
    const listed = providers.map(({ name, ids, service }) => ({
      name,
      service,
      state: jointStateOf(ids.map((id) => states.get(id) ?? "ready")),
    }));
    const why = ready ? {} : { reason: reason() };
    const { bytes, quotaBytes, state } = filesUsage();
    const files = { bytes, quota_bytes: quotaBytes, state };
    const difference = clockDifference();
    const body = {
      status: ready ? "ready" : "not_ready",
      ...why,
      ...difference !== null && { warnings: [difference] },
      providers: listed,
      files,
      unhandled_errors: unhandledErrors(),
    };
    return Response.json(body, { status });
  };
}

function notReady(reason: string | null): string {
  return reason === null ? "not ready\n" : `not ready: ${reason}\n`;
}
