/** Request headers by which callers of the default protocol enable features. */
export const FEATURE_HEADERS: readonly string[] = ["openai-beta"];

/**
 * Response headers of the default protocol that describe one response. Those with the vendor's rate limits are not
 * among them: they show what other callers use. Source: OpenAI API, "Debugging requests".
 */
export const REPORTED_HEADERS: readonly string[] = ["openai-processing-ms", "openai-version"];
