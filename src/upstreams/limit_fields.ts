import type * as z from "zod";
import { seconds, wholeNumber } from "../lib/settings.ts";

const MAX_PER_MINUTE = 1_000_000_000;
const MAX_CONCURRENCY = 1_000_000;
const MAX_WAIT_SECONDS = 600;
const DEFAULT_MAX_WAIT_MS = 5_000;

/** The schemas of `rpm`, `tpm` and `concurrency`. */
export const LIMIT_FIELDS: {
  readonly rpm: z.ZodType<number | undefined>;
  readonly tpm: z.ZodType<number | undefined>;
  readonly concurrency: z.ZodType<number | undefined>;
} = {
  rpm: wholeNumber(1, MAX_PER_MINUTE, "requests").optional(),
  tpm: wholeNumber(1, MAX_PER_MINUTE, "tokens").optional(),
  concurrency: wholeNumber(1, MAX_CONCURRENCY, "requests").optional(),
};

/** The schema of `max_wait`, in milliseconds. */
export function maxWaitSchema(): z.ZodType<number> {
  return seconds(0, MAX_WAIT_SECONDS).default(DEFAULT_MAX_WAIT_MS);
}
