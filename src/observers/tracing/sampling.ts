import type { HeaderReader } from "../../platform/http/request/headers.ts";
import { newSpanId, newTraceId, readTraceParent, type RequestTrace } from "../../platform/lib/tracing/trace_context.ts";

/** The last digits of a trace id, which are random, as a number in [0, 1). Fewer bits than a double has. */
const RANDOM_DIGITS = 13;

/**
 * Returns the function that places a request in a trace. The decision of the caller about sampling is followed. Without
 * one, the trace id decides, so that all gateways agree. Source: W3C Trace Context; OpenTelemetry, `ParentBased` and
 * `TraceIdRatioBased`.
 *
 * @param ratio The share of the traces that begin here and are exported, from 0 to 1.
 */
export function traceBySampling(ratio: number): (headers: HeaderReader) => RequestTrace {
  return (headers) => {
    const parent = readTraceParent(headers.get("traceparent"), headers.get("tracestate"));
    if (parent !== null) return { ...parent, spanId: newSpanId() };
    const traceId = newTraceId();
    const chance = Number.parseInt(traceId.slice(-RANDOM_DIGITS), 16) / 16 ** RANDOM_DIGITS;
    return { traceId, spanId: newSpanId(), parentId: null, isSampled: chance < ratio, state: "" };
  };
}
