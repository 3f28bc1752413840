import * as z from "zod";
import { chat } from "../../../conversation/codecs/chat/mod.ts";
import { ERROR_TEXTS } from "../call/error_texts.ts";
import type { FailureKind, UpstreamFailure } from "../call/failure.ts";
import type { Outbound, VendorRefusal } from "../call/outbound_call.ts";

/** The common parts of fal queue jobs. Source: fal documentation, "Queue API" and "Errors". */

const text = z.string().nullable().catch(null);

/** Source: @fal-ai/client 1.10.1, `DEFAULT_RETRYABLE_STATUS_CODES`, after which it submits again. */
export const RESENT_STATUSES: readonly number[] = [429, 502, 503, 504];

/** An accepted job. */
export interface FalSubmission {
  readonly request_id: string;
  /** The URL of its result, as the vendor reports it. */
  readonly response_url: string | null;
}

const Created: z.ZodType<FalSubmission> = z.object({ request_id: z.string().min(1), response_url: text });

/** The queue status of a job. */
export interface FalStatus {
  readonly status: string;
  /** The number of jobs before it. */
  readonly queue_position: number | null;
  /** Why it failed. A failed job is `COMPLETED`, too. */
  readonly error: string | null;
  /** The vendor's code for the reason. */
  readonly error_type: string | null;
}

const Status: z.ZodType<FalStatus> = z.object({
  status: z.string(),
  queue_position: z.int().nonnegative().nullable().catch(null),
  error: text,
  error_type: text,
});

/** Reads the response to a submission. Throws if it has another shape. */
export function readSubmission(response: unknown): FalSubmission {
  return Created.parse(response);
}

/** Reads the response to a status request. Throws if it has another shape. */
export function readStatus(response: unknown): FalStatus {
  return Status.parse(response);
}

/**
 * Returns the path of a job, which contains only the owner and the app. It is taken from the response URL if that is on
 * the provider's own host and names this job. Otherwise it is derived.
 */
export function jobPathOf(outbound: Outbound, created: FalSubmission, endpoint: string): string {
  const suffix = `/requests/${encodeURIComponent(created.request_id)}`;
  const path = created.response_url ? outbound.pathOf(created.response_url) : null;
  if (path?.endsWith(suffix)) return path;
  return `/${endpoint.split("/").slice(0, 2).join("/")}${suffix}`;
}

/** Whether a failure is the result of the job, and not of the request for it, which can be repeated. */
export function isJobFailure({ kind, facts: { status } }: UpstreamFailure): boolean {
  return status === 500 || (kind === "invalid" && status !== null && status !== 404);
}

/** Whether the result was requested before it is available. */
export function isResultPending({ message, facts: { status, vendorCode } }: UpstreamFailure): boolean {
  return status === 400 && vendorCode === undefined && ERROR_TEXTS.falResultPending.test(message);
}

const ModelError = z.object({ detail: z.array(z.object({ type: text })).nonempty() });

const RequestError = z.object({ error_type: text });

/**
 * Reads an error body: `{detail: [{type}]}` of a model, `{detail, error_type}` of the queue. Source: fal documentation,
 * "Errors" and "Request errors".
 */
export function readRefusal(body: unknown): VendorRefusal {
  const error = chat.upstream.readError(body);
  const type = ModelError.safeParse(body).data?.detail[0]?.type ?? RequestError.safeParse(body).data?.error_type;
  const code = type ?? error.code;
  return { ...error, code, kind: kindOf(code, error.message), isContentRefusal: isRefusal(code) };
}

/** Whether an error type means that the vendor's content rules forbid the request or its result. */
export function isRefusal(type: string | null): boolean {
  return type === "content_policy_violation";
}

/** The kind of an error whose status would be misleading; undefined for others. */
function kindOf(type: string | null, message: string): FailureKind | undefined {
  if (isRefusal(type)) return "invalid";
  return type === null && ERROR_TEXTS.falBalanceExhausted.test(message) ? "unavailable" : undefined;
}
