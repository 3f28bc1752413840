import * as z from "zod";
import type { DryRunAnswer } from "../../../src/protocols/dry_run_response.ts";
import { about, usd, written } from "../schema.ts";

const Refusal = z.object({
  code: z.enum(["insufficient_credits", "rate_limited"]),
  message: z.string(),
  holder: z.enum(["key", "account"]).nullable(),
  limit: z.enum(["rpm", "tpm", "concurrency", "budget", "balance"]).nullable(),
  value: z.string().nullable(),
  retry_after: about(z.int().nullable(), "Whole seconds; null if waiting does not help."),
});

const Estimate = z.object({
  cost: about(z.number(), "The highest cost in US dollars."),
  prompt_tokens: z.int().exactOptional(),
  output_tokens: z.int().exactOptional(),
  audio_tokens: z.int().exactOptional(),
  audio_output_tokens: z.int().exactOptional(),
  search_units: z.int().exactOptional(),
  characters: z.int().exactOptional(),
  seconds: z.number().exactOptional(),
  images: z.int().exactOptional(),
  video_seconds: z.number().exactOptional(),
  requests: about(z.int(), "The lines of a batch.").exactOptional(),
}).catchall(usd("The same cost, named after the mode, such as `text_cost`"));

/** What a dry run found. */
export const DryRun = written<Omit<DryRunAnswer, "admission">>()(z.object({
  dry_run: z.literal(true),
  model: z.string(),
  mode: about(z.string(), "`text`, `cache`, `embedding`, `generate`, `edit`, `text2video` and others."),
  providers: about(z.array(z.string()), "Those that may serve it, the most likely first."),
  fallbacks: z.array(z.object({ model: z.string(), providers: z.array(z.string()) })).exactOptional(),
  estimate: Estimate,
  dropped: z.array(z.string()),
  prompt_caching: about(
    z.array(z.object({
      provider: z.string(),
      marks: about(z.array(z.string()), "`tools`, `system`, and turns of the conversation, such as `turn 3`."),
      cache_key: z.boolean(),
    })).exactOptional(),
    "What each provider would be told about prefixes to cache, beside the caller's own marks.",
  ),
  service_batch: about(
    z.object({ mode: z.enum(["vendor", "emulated", "mixed"]), estimate: usd() }).exactOptional(),
    "Of batches: who would run the lines, and their highest cost.",
  ),
  balance_covers: z.boolean(),
  admitted: z.boolean(),
  refused_by: Refusal.nullable(),
})).meta({
  id: "DryRun",
  description: "What a request with `X-Service-Dry-Run: true` would cost, and whether it would be admitted.",
});

/** The reply to a request that may be a dry run. */
export function orDryRun(reply: z.ZodType): z.ZodType {
  return z.union([reply, DryRun]);
}
