import { type ErrorCode, type ErrorDetails, GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import { type FailureFacts, type FailureKind, UpstreamFailure } from "../../vendors/upstreams/call/failure.ts";
import { isStoreFailure, storageUnavailable } from "../../platform/store/write_health.ts";

/** An error as plain values. Causes are not sent: they belong to the log of the thread that threw. */
export type PlainError =
  | {
    readonly kind: "gateway";
    readonly code: ErrorCode;
    readonly message: string;
    readonly details: Omit<ErrorDetails, "cause">;
  }
  | {
    readonly kind: "upstream";
    readonly provider: string;
    readonly failure: FailureKind;
    readonly message: string;
    readonly facts: Omit<FailureFacts, "cause">;
  }
  | { readonly kind: "range"; readonly message: string }
  | { readonly kind: "other"; readonly name: string; readonly place: string };

/**
 * Returns an error as plain values. For an unexpected error, only class and place are sent: its message may repeat
 * input.
 */
export function plainErrorOf(error: unknown): PlainError {
  if (error instanceof GatewayError && error.code !== "internal_error") {
    const { cause: _, ...details } = error.details;
    return { kind: "gateway", code: error.code, message: error.message, details };
  }
  if (error instanceof UpstreamFailure) {
    const { cause: _, ...facts } = error.facts;
    return { kind: "upstream", provider: error.provider, failure: error.kind, message: error.message, facts };
  }
  if (error instanceof GatewayError && error.details.cause !== undefined) return plainErrorOf(error.details.cause);
  if (error instanceof GatewayError) {
    return { kind: "gateway", code: error.code, message: error.message, details: {} };
  }
  if (isStoreFailure(error)) return plainErrorOf(storageUnavailable());
  if (error instanceof RangeError) return { kind: "range", message: error.message };
  if (!(error instanceof Error)) return { kind: "other", name: typeof error, place: "" };
  const head = `${error.name}: ${error.message}`;
  const place = error.stack?.startsWith(head) ? error.stack.slice(head.length) : "";
  return { kind: "other", name: error.name, place };
}

/** Recreates the error that the other thread threw. */
export function errorOf(plain: PlainError): Error {
  switch (plain.kind) {
    case "gateway":
      return new GatewayError(plain.code, plain.message, plain.details);
    case "upstream":
      return new UpstreamFailure(plain.provider, plain.failure, plain.message, plain.facts);
    case "range":
      return new RangeError(plain.message);
    case "other": {
      const error = new Error("Unexpected error in another thread");
      error.name = plain.name;
      error.stack = `${error.name}: ${error.message}${plain.place}`;
      return error;
    }
  }
}
