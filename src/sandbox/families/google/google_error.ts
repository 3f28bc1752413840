import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import type { SimulatedErrorDetails } from "../../simulated_error.ts";

const STATUSES: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  409: "ABORTED",
  429: "RESOURCE_EXHAUSTED",
  499: "CANCELLED",
  500: "INTERNAL",
  501: "UNIMPLEMENTED",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
};
const TYPE = "type.googleapis.com/google.rpc.";

/**
 * Returns an error as Google's APIs write it. Source: Google API error model, `google.rpc.Status` and
 * `error_details.proto`.
 */
export function errorBody(status: number, message: string, refusal: SimulatedErrorDetails): JsonObject {
  const { code, violations, retryAfterSeconds, grpcStatus } = refusal;
  const details: JsonObject[] = [];
  if (code !== undefined) {
    details.push({
      "@type": `${TYPE}ErrorInfo`,
      reason: code,
      domain: "googleapis.com",
      metadata: { service: SERVICE },
    });
  }
  if (violations !== undefined) details.push({ "@type": `${TYPE}BadRequest`, fieldViolations: violations });
  if (retryAfterSeconds !== undefined) {
    details.push({ "@type": `${TYPE}RetryInfo`, retryDelay: `${retryAfterSeconds}s` });
  }
  const statusName = grpcStatus ?? STATUSES[status] ?? (status >= 500 ? "INTERNAL" : "FAILED_PRECONDITION");
  return { error: { code: status, message, status: statusName, ...(details.length > 0 ? { details } : {}) } };
}

const SERVICE = "generativelanguage.googleapis.com";
