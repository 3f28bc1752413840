import type { FormatAuthor } from "../conversation/caller_format.ts";
import { GatewayError } from "../lib/gateway_error.ts";
import type { Log, LogFields } from "../lib/log.ts";
import { gatewayErrorFor, UpstreamFailure } from "../upstreams/failure.ts";
import type { Provider } from "../upstreams/provider.ts";
import type { Candidate } from "./candidates.ts";

/** Whom an error is written for. */
export interface ErrorAudience {
  /** By name. */
  readonly providers: ReadonlyMap<string, Pick<Provider, "text">>;
  /** Who defined the wire format that the caller speaks. */
  readonly author: FormatAuthor;
}

/**
 * What no attempt could mend, as the caller is told it. A vendor's 503 and 529 are kept for callers of its own format.
 */
export function errorForCaller(error: unknown, { providers, author }: ErrorAudience): unknown {
  if (!(error instanceof UpstreamFailure)) return error;
  const spoken = providers.get(error.provider)?.text ?? [];
  return gatewayErrorFor(error, spoken.some(({ format }) => format.author === author));
}

/** Logs that a request goes on to another provider. */
export function logFallback(log: Log, { provider, model }: Candidate, error: unknown, requestId?: string): void {
  log.warn("upstream_failed_over", { requestId, provider, model, ...failureLogFields(error) });
}

/** What the log says of a failure: the word to decide by, and the vendor's status where there was one. */
export function failureLogFields(error: unknown): Pick<LogFields, "code" | "status"> {
  if (error instanceof UpstreamFailure) return { code: error.kind, status: error.facts.status ?? undefined };
  return { code: error instanceof GatewayError ? error.code : "internal_error" };
}
