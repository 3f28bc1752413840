import type { FormatAuthor } from "../../conversation/contract/caller_format.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import type { Log, LogFields } from "../../platform/lib/basics/log.ts";
import { gatewayErrorFor, UpstreamFailure } from "../upstreams/call/failure.ts";
import type { Provider } from "../upstreams/contract/provider.ts";
import type { Candidate } from "./candidates.ts";

/** The recipient of an error. */
export interface ErrorAudience {
  /** By name. */
  readonly providers: ReadonlyMap<string, Pick<Provider, "text">>;
  /** The author of the caller's wire format. */
  readonly author: FormatAuthor;
}

/**
 * Converts the failure of all attempts to the caller's error. A vendor's 503 and 529 are kept for callers of its own
 * format.
 */
export function errorForCaller(error: unknown, { providers, author }: ErrorAudience): unknown {
  if (!(error instanceof UpstreamFailure)) return error;
  const spoken = providers.get(error.provider)?.text ?? [];
  return gatewayErrorFor(error, spoken.some(({ format }) => format.author === author));
}

/** Logs that a request continues at another provider. */
export function logFallback(log: Log, { provider, model }: Candidate, error: unknown, requestId?: string): void {
  log.warn("upstream_failed_over", { requestId, provider, model, ...failureLogFields(error) });
}

/** The log fields of a failure: its code, and the vendor's status if there is one. */
export function failureLogFields(error: unknown): Pick<LogFields, "code" | "status"> {
  if (error instanceof UpstreamFailure) return { code: error.kind, status: error.facts.status ?? undefined };
  return { code: error instanceof GatewayError ? error.code : "internal_error" };
}
