import { GatewayError, gatewayErrorOf } from "../lib/gateway_error.ts";
import { gatewayErrorFor, UpstreamFailure } from "../upstreams/failure.ts";
import type { TextAttempt } from "./attempt.ts";

/** The failure of a vendor whose answer is no reply of its form. */
export function unreadable({ provider }: TextAttempt, cause?: unknown): UpstreamFailure {
  const message = `Provider "${provider.name}" sent an answer that cannot be read`;
  return new UpstreamFailure(provider.name, "broken", message, { status: null, accepted: "unknown", cause });
}

/** The error of a stream that failed after its first byte. */
export function streamError(thrown: unknown, attempt: TextAttempt): GatewayError {
  if (thrown instanceof UpstreamFailure) return gatewayErrorFor(thrown);
  if (thrown instanceof SyntaxError || thrown instanceof TypeError || thrown instanceof RangeError) {
    return gatewayErrorFor(unreadable(attempt, thrown));
  }
  return gatewayErrorOf(thrown);
}

/** The error of a stream that ended without its form's end mark. */
export function cutShort({ provider }: TextAttempt): GatewayError {
  return new GatewayError(
    "upstream_error",
    `Provider "${provider.name}" ended the stream before the reply was complete`,
    {
      provider: provider.name,
    },
  );
}
