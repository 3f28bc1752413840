import { FailedReply, type ReportedFailure } from "../../../conversation/parts/reply/failed_reply.ts";
import { GatewayError, gatewayErrorOf } from "../../../platform/lib/basics/gateway_error.ts";
import { failureKindOf, gatewayErrorFor, UpstreamFailure } from "../../../vendors/upstreams/call/failure.ts";
import type { TextAttempt } from "../plan/attempt.ts";

/** The failure of a vendor whose response is not a reply of its format. */
export function unreadableReply({ provider }: TextAttempt, cause?: unknown): UpstreamFailure {
  const message = `Provider "${provider.name}" returned an invalid response`;
  return new UpstreamFailure(provider.name, "broken", message, { status: 200, accepted: "unknown", cause });
}

/** The failure of a vendor whose response could not be read: what it reports, or that it is no reply of its format. */
export function failureOfReading(cause: unknown, attempt: TextAttempt): UpstreamFailure {
  return cause instanceof FailedReply ? failureOfReply(cause.failure, attempt) : unreadableReply(attempt, cause);
}

/** The error of a stream that failed after its first byte. */
export function streamError(thrown: unknown, attempt: TextAttempt): GatewayError {
  if (thrown instanceof UpstreamFailure) return gatewayErrorFor(thrown);
  if (thrown instanceof SyntaxError || thrown instanceof TypeError || thrown instanceof RangeError) {
    return gatewayErrorFor(failureOfReading(thrown, attempt));
  }
  return gatewayErrorOf(thrown);
}

/** The error for a failure that the vendor reports inside its stream. */
export function reportedFailure(event: ReportedFailure, attempt: TextAttempt): GatewayError {
  return gatewayErrorFor(failureOfReply(event, attempt));
}

/** The failure that a vendor reports in place of a reply. */
function failureOfReply(event: ReportedFailure, { provider }: TextAttempt): UpstreamFailure {
  const { status, vendorCode } = event;
  const kind = status === null ? "unavailable" : failureKindOf(status);
  const ownMessage = `Provider "${provider.name}" reported a failure`;
  const message = provider.redact(event.message) || ownMessage;
  return new UpstreamFailure(provider.name, kind, message, {
    status,
    accepted: "unknown",
    ownMessage,
    vendorCode: vendorCode === null ? undefined : provider.redact(vendorCode),
  });
}

/** The error of a stream that ended without the end marker of its format. */
export function incompleteStream({ provider }: TextAttempt): GatewayError {
  const message = `Provider "${provider.name}" ended the stream before the reply was complete`;
  return new GatewayError("upstream_error", message, { provider: provider.name });
}
