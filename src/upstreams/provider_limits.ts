import type * as z from "zod";
import { seconds, wholeNumber } from "../lib/settings.ts";

/** Limits on the attempts at one vendor account. An absent limit does not apply. */
export interface ProviderLimits {
  /** Attempts that start per minute. As many may start at once after a quiet minute. */
  readonly rpm?: number;
  /** Tokens of prompts and outputs per minute. */
  readonly tpm?: number;
  /** Attempts that are open at once, each until the end of its reply. */
  readonly concurrency?: number;
}

/** The limits of a provider, and the longest wait for a place within them. */
export interface WaitingLimits extends ProviderLimits {
  /** In milliseconds. */
  readonly maxWaitMs: number;
}

const MAX_PER_MINUTE = 1_000_000_000;
const MAX_CONCURRENCY = 1_000_000;
const MAX_WAIT_SECONDS = 600;
const DEFAULT_MAX_WAIT_MS = 5_000;

/** The fields of {@linkcode ProviderLimits} in the configuration. */
export interface LimitsInput {
  readonly rpm?: number | undefined;
  readonly tpm?: number | undefined;
  readonly concurrency?: number | undefined;
}

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

/** The limits that an entry sets; null if it sets none. */
export function limitsOf({ rpm, tpm, concurrency }: LimitsInput): ProviderLimits | null {
  if (rpm === undefined && tpm === undefined && concurrency === undefined) return null;
  return {
    ...(rpm !== undefined && { rpm }),
    ...(tpm !== undefined && { tpm }),
    ...(concurrency !== undefined && { concurrency }),
  };
}

/** The limits of the providers that have limits, by name. */
export function limitsByProvider(
  configs: Readonly<Record<string, { readonly limits?: WaitingLimits }>>,
): ReadonlyMap<string, WaitingLimits> {
  return new Map(Object.entries(configs).flatMap(([name, { limits }]) => limits ? [[name, limits] as const] : []));
}
