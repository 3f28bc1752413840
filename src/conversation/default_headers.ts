/** Features of the default protocol that its callers ask for in header fields. */
export const DEFAULT_FEATURES: readonly string[] = ["openai-beta"];

/**
 * What vendors of the default protocol tell of limits and times. Source: OpenAI API reference, "Debugging requests".
 */
export const DEFAULT_TOLD: readonly string[] = [
  ...["requests", "tokens"].flatMap((what) => ["limit", "remaining", "reset"].map((of) => `x-ratelimit-${of}-${what}`)),
  "openai-processing-ms",
  "openai-version",
];
