import * as z from "zod";
import { chat } from "../../conversation/codecs/chat/mod.ts";
import { ERROR_TEXTS } from "../error_texts.ts";
import type { VendorRefusal } from "../outbound_call.ts";

/**
 * What jobs of Replicate have in common. Source: Replicate HTTP API reference, "Create a prediction", "Get a
 * prediction".
 */

/** A job, as the vendor tells of it when it is made, asked for and cancelled. */
export interface Prediction {
  readonly id: string;
  /** `starting`, `processing`, `succeeded`, `failed`, `canceled` or `aborted`. */
  readonly status: string;
  /** What models that make files make: their addresses, whether the model has one output or a list. */
  readonly urls: readonly string[];
  /** Why it failed; empty where it did not. */
  readonly error: string;
  /** Whether the vendor has deleted what was made, as it does after an hour. */
  readonly isRemoved: boolean;
  /** Unix milliseconds; null before the vendor began. */
  readonly startedAt: number | null;
}

const Written = z.object({
  id: z.string().min(1),
  status: z.string(),
  output: z.unknown().optional(),
  error: z.unknown().optional(),
  data_removed: z.boolean().nullish().catch(null),
  started_at: z.string().nullish().catch(null),
});

/** Reads a prediction. Throws where it is none. */
export function readPrediction(body: unknown): Prediction {
  const { id, status, output, error, data_removed, started_at } = Written.parse(body);
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

/** Where predictions of a model are made, and what the body names it by. */
export interface PredictionTarget {
  readonly path: string;
  /** Empty for models that are named by the path. */
  readonly fields: { readonly version?: string };
}

/**
 * Where predictions of a model are made: at its own address, or by the version that stands behind its name or instead
 * of it.
 *
 * @param model Such as `owner/name`, `owner/name:version` or a version's 64 digits.
 */
export function targetOf(model: string): PredictionTarget {
  const version = /^(?:[^:]+:)?([0-9a-f]{64})$/.exec(model)?.[1] ?? model.split(":")[1];
  if (version !== undefined) return { path: "/predictions", fields: { version } };
  return { path: `/models/${model.split("/").map(encodeURIComponent).join("/")}/predictions`, fields: {} };
}

/** The path of one prediction. */
export function placeOf(id: string): string {
  return `/predictions/${encodeURIComponent(id)}`;
}

/** Whether the text of an error says that content rules forbid a request or its result. */
export function isRefusal(said: string): boolean {
  return ERROR_TEXTS.replicateContentRefusal.test(said);
}

/** What is told of a result that is there no more. */
export const REMOVED = "The vendor removed the result before it was fetched";

const InvalidFields = z.object({ invalid_fields: z.array(z.object({ field: z.string() })).nonempty() });

/** Reads an error body, `{title, detail, invalid_fields}`. How long to wait after a 429 stands in its words alone. */
export function readReplicateError(body: unknown): VendorRefusal {
  const said = chat.upstream.readError(body);
  const message = said.message.trim();
  const field = InvalidFields.safeParse(body).data?.invalid_fields[0]?.field || said.field;
  const wait = ERROR_TEXTS.replicateRateLimitReset.exec(message)?.[1];
  const refusal = isRefusal(message) ? { kind: "invalid", isContentRefusal: true } as const : {};
  return { ...said, message, field, retryAfterSeconds: wait ? Number(wait) : said.retryAfterSeconds, ...refusal };
}
