import * as z from "zod";
import { chat } from "../../conversation/codecs/chat/mod.ts";
import { ERROR_TEXTS } from "../error_texts.ts";
import type { FailureKind, UpstreamFailure } from "../failure.ts";
import type { Outbound, VendorRefusal } from "../outbound_call.ts";

/** What jobs of fal's queue have in common. Source: fal documentation, "Queue API" and "Errors". */

const text = z.string().nullable().catch(null);

/** Source: @fal-ai/client 1.10.1, `DEFAULT_RETRYABLE_STATUS_CODES`, by which it submits again. */
export const RESENT_STATUSES: readonly number[] = [429, 502, 503, 504];

/** A job that was accepted. */
export interface FalSubmission {
  readonly request_id: string;
  /** Where its result will stand, as the vendor says. */
  readonly response_url: string | null;
}

const Created: z.ZodType<FalSubmission> = z.object({ request_id: z.string().min(1), response_url: text });

/** How a job stands in the queue. */
export interface FalStatus {
  readonly status: string;
  /** How many jobs are before it. */
  readonly queue_position: number | null;
  /** Why it failed; also a job that failed is `COMPLETED`. */
  readonly error: string | null;
  /** The vendor's word for the reason. */
  readonly error_type: string | null;
}

const Status: z.ZodType<FalStatus> = z.object({
  status: z.string(),
  queue_position: z.int().nonnegative().nullable().catch(null),
  error: text,
  error_type: text,
});

/** Reads the answer to a submission. Throws where it is none. */
export function readSubmission(answer: unknown): FalSubmission {
  return Created.parse(answer);
}

/** Reads the answer to a question for a job's status. Throws where it is none. */
export function readStatus(answer: unknown): FalStatus {
  return Status.parse(answer);
}

/**
 * The path of a job. It stands below owner and app only, which fal tells by an address of its own: that is taken when
 * it leads to the provider's own host and to this job, and worked out otherwise.
 */
export function placeOf(outbound: Outbound, created: FalSubmission, endpoint: string): string {
  const ending = `/requests/${encodeURIComponent(created.request_id)}`;
  const named = created.response_url ? outbound.pathOf(created.response_url) : null;
  if (named?.endsWith(ending)) return named;
  return `/${endpoint.split("/").slice(0, 2).join("/")}${ending}`;
}

/** Whether a failure is the job's result, and not one of asking for it, which can be asked again. */
export function isJobsOwn({ kind, facts: { status } }: UpstreamFailure): boolean {
  return status === 500 || (kind === "invalid" && status !== null && status !== 404);
}

/** Whether a result was asked for before it can be read. */
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
  const said = chat.upstream.readError(body);
  const type = ModelError.safeParse(body).data?.detail[0]?.type ?? RequestError.safeParse(body).data?.error_type;
  const code = type ?? said.code;
  return { ...said, code, kind: kindOf(code, said.message), isContentRefusal: isRefusal(code) };
}

/** Whether an error type says that the vendor's content rules forbid a request or its result. */
export function isRefusal(type: string | null): boolean {
  return type === "content_policy_violation";
}

/** The kind of an error whose status would mislead; undefined for others. */
function kindOf(type: string | null, message: string): FailureKind | undefined {
  if (isRefusal(type)) return "invalid";
  return type === null && ERROR_TEXTS.falBalanceExhausted.test(message) ? "unavailable" : undefined;
}
