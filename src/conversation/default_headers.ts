/** Request headers by which callers of the default protocol enable features. */
export const FEATURE_HEADERS: readonly string[] = ["openai-beta"];

/** Response headers of the default protocol for rate limits and timing. Source: OpenAI API, "Debugging requests". */
export const RATE_LIMIT_HEADERS: readonly string[] = [
  ...["requests", "tokens"].flatMap((what) => ["limit", "remaining", "reset"].map((of) => `x-ratelimit-${of}-${what}`)),
  "openai-processing-ms",
  "openai-version",
];
