import type { RateLeft, RatesLeft } from "./limits_left.ts";
import { rfc3339 } from "./limit_refusal.ts";

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const SECOND_MS = 1_000;

/**
 * Adds header fields of the default protocol for the limits of a key: `x-ratelimit-limit-requests`, `-remaining-` and
 * `-reset-`, and the same for tokens. A reset is a duration. Source: OpenAI API, "Rate limits in headers".
 */
export function addDefaultRateFields(fields: Record<string, string>, { requests, tokens }: RatesLeft): void {
  if (requests !== undefined) addDefault(fields, "requests", requests);
  if (tokens !== undefined) addDefault(fields, "tokens", tokens);
}

function addDefault(fields: Record<string, string>, unit: string, { limit, left, fullInMs }: RateLeft): void {
  fields[`x-ratelimit-limit-${unit}`] = String(limit);
  fields[`x-ratelimit-remaining-${unit}`] = String(left);
  fields[`x-ratelimit-reset-${unit}`] = durationOf(fullInMs);
}

/**
 * Adds header fields of the message protocol for the limits of a key: `anthropic-ratelimit-requests-limit`,
 * `-remaining` and `-reset`, and the same for tokens. A reset is an instant. Source: Messages API reference, "Rate
 * limits".
 *
 * @param now Unix milliseconds.
 */
export function addMessageRateFields(
  fields: Record<string, string>,
  { requests, tokens }: RatesLeft,
  now: number,
): void {
  if (requests !== undefined) addMessage(fields, "requests", { ...requests, now });
  if (tokens !== undefined) addMessage(fields, "tokens", { ...tokens, now });
}

function addMessage(
  fields: Record<string, string>,
  unit: string,
  { limit, left, fullInMs, now }: RateLeft & { readonly now: number },
): void {
  fields[`anthropic-ratelimit-${unit}-limit`] = String(limit);
  fields[`anthropic-ratelimit-${unit}-remaining`] = String(left);
  // Whole seconds, rounded up: an earlier instant would be too early.
  fields[`anthropic-ratelimit-${unit}-reset`] = rfc3339(Math.ceil((now + fullInMs) / SECOND_MS) * SECOND_MS);
}

/** A duration as Go writes it: `0s`, `12ms`, `1.5s`, `6m0s`, `1h0m0s`. Source: Go, `time.Duration.String`. */
export function durationOf(ms: number): string {
  if (ms > 0 && ms < SECOND_MS) return `${ms}ms`;
  const seconds = `${(ms % MINUTE_MS) / SECOND_MS}s`;
  const minutes = Math.floor(ms % HOUR_MS / MINUTE_MS);
  const hours = Math.floor(ms / HOUR_MS);
  if (hours > 0) return `${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${minutes}m${seconds}` : seconds;
}
