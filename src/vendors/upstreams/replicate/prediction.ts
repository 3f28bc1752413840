import * as z from "zod";
import { chat } from "../../../conversation/codecs/chat/mod.ts";
import { ERROR_TEXTS } from "../call/error_texts.ts";
import type { VendorRefusal } from "../call/outbound_call.ts";

/**
 * The common parts of Replicate jobs. Source: Replicate HTTP API reference, "Create a prediction", "Get a prediction".
 */

/** A job, as the vendor returns it on creation, poll and cancel. */
export interface Prediction {
  readonly id: string;
  /** `starting`, `processing`, `succeeded`, `failed`, `canceled` or `aborted`. */
  readonly status: string;
  /** The URLs of the output files, whether the model has one output or a list. */
  readonly urls: readonly string[];
  /** Why it failed; empty otherwise. */
  readonly error: string;
  /** Whether the vendor has deleted the output, as it does after an hour. */
  readonly isRemoved: boolean;
  /** Unix milliseconds; null before the start. */
  readonly startedAt: number | null;
}

const PredictionBody = z.object({
  id: z.string().min(1),
  status: z.string(),
  output: z.unknown().optional(),
  error: z.unknown().optional(),
  data_removed: z.boolean().nullish().catch(null),
  started_at: z.string().nullish().catch(null),
});

/** Reads a prediction. Throws if the body has another shape. */
export function readPrediction(body: unknown): Prediction {
  const { id, status, output, error, data_removed, started_at } = PredictionBody.parse(body);
  const startedAt = Date.parse(started_at ?? "");
  return {
    id,
    status: status.toLowerCase(),
    urls: (Array.isArray(output) ? output : [output]).filter((each) => typeof each === "string" && each !== ""),
    error: typeof error === "string" ? error : "",
    isRemoved: data_removed === true,
    startedAt: Number.isNaN(startedAt) ? null : startedAt,
  };
}

/** The path for creating predictions of a model, and the body fields that name the model. */
export interface PredictionTarget {
  readonly path: string;
  /** Empty for models that the path names. */
  readonly fields: { readonly version?: string };
}

/**
 * Returns the path of the model, or the path for a version if the name contains or is one.
 *
 * @param model Such as `owner/name`, `owner/name:version` or a version's 64 digits.
 */
export function targetOf(model: string): PredictionTarget {
  const version = /^(?:[^:]+:)?([0-9a-f]{64})$/.exec(model)?.[1] ?? model.split(":")[1];
  if (version !== undefined) return { path: "/predictions", fields: { version } };
  return { path: `/models/${model.split("/").map(encodeURIComponent).join("/")}/predictions`, fields: {} };
}

/** Returns the path of a prediction. */
export function predictionPathOf(id: string): string {
  return `/predictions/${encodeURIComponent(id)}`;
}

/** Whether the error text means that content rules forbid the request or its result. */
export function isRefusal(message: string): boolean {
  return ERROR_TEXTS.replicateContentRefusal.test(message);
}

/** The message for a deleted result. */
export const RESULT_DELETED = "The vendor deleted the result before it was downloaded";

const InvalidFields = z.object({ invalid_fields: z.array(z.object({ field: z.string() })).nonempty() });

/**
 * Reads an error body, `{title, detail, invalid_fields}`. Only the text of a 429 contains the delay before a retry.
 */
export function readReplicateError(body: unknown): VendorRefusal {
  const error = chat.upstream.readError(body);
  const message = error.message.trim();
  const field = InvalidFields.safeParse(body).data?.invalid_fields[0]?.field || error.field;
  const retryDelay = ERROR_TEXTS.replicateRateLimitReset.exec(message)?.[1];
  const refusal = isRefusal(message) ? { kind: "invalid", isContentRefusal: true } as const : {};
  return {
    ...error,
    message,
    field,
    retryAfterSeconds: retryDelay ? Number(retryDelay) : error.retryAfterSeconds,
    ...refusal,
  };
}
