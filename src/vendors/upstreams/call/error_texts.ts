/**
 * Facts that vendors report only in the text of an error. All other decisions are based on the status, code or type of
 * an error. Each entry names its source, a document or an observation.
 */
export const ERROR_TEXTS = {
  /**
   * Anthropic: an account without a balance is a 400 with the type of any invalid request. Source: GitHub,
   * continuedev/continue 5499.
   */
  anthropicBalanceExhausted: /^Your credit balance is too low\b/,
  /**
   * Bedrock: a model without a counter, a model that exists only as an inference profile, and a credential that may not
   * count are reported as an invalid or forbidden request. Observed.
   */
  bedrockNoTokenCounter:
    /\bsupport(?:s|ed)? counting tokens\b|\bmodel identifier is invalid\b|\bperform: bedrock:CountTokens\b/i,
  /** Bedrock: an API key that is not valid has the code of a missing permission. Source: AWS re:Post, "API keys". */
  bedrockKeyRejected: /^Authentication failed\b|\bAPI key is (?:not valid|invalid|expired)\b/i,
  /** fal: 400 without a type for a result that is not available yet. Source: fal documentation, "Queue API". */
  falResultPending: /\bstill in progress\b/i,
  /** Gemini: 400 for an interaction that it does not have. Other 400s at a poll were temporary. Observed. */
  geminiInteractionMissing: /^Invalid interaction name\b/i,
  /** fal: 403 without a type for an account without a balance. Observed. */
  falBalanceExhausted: /\bexhausted balance\b/i,
  /** Gemini Omni: errors of the front end have the status number as their code. Observed. */
  googleContentRefusal: /SAFETY|PROHIBITED_CONTENT|usage guidelines/,
  /** Kling: a failed job has a message and no code. Source: Kling API reference, "Query Task", `task_status_msg`. */
  klingContentRefusal: /risk control|sensitive|content (?:policy|security)|moderation/i,
  /**
   * Luma: an error has a text and no code, as has a failed job of the Dream Machine API. Source: Luma Agents
   * documentation, "Error handling"; Dream Machine API reference, "Generations", `failure_reason`.
   */
  lumaContentRefusal: /moderat|content (?:policy|guidelines)/i,
  /**
   * MiniMax: version 2 bodies do not contain the codes 1026 and 1027. Source: MiniMax API reference, "Error codes".
   */
  minimaxContentRefusal: /\bnew_sensitive\b/,
  /** Replicate: an error is one string, written by the model. Source: Replicate HTTP API reference, "Predictions". */
  replicateContentRefusal:
    /flagged as sensitive|\bE005\b|NSFW content|content[ _-]?(?:policy|moderation|filter)|moderated/i,
  /** Replicate: a 429 has no `retry-after`. The group is the number of seconds. Source: as above, "Rate limits". */
  replicateRateLimitReset: /resets in ~?(\d{1,4}) ?s/,
  /** xAI: refusals are a 400 with the code of any invalid argument. Source: xAI documentation, "Debugging errors". */
  xaiContentRefusal: /content moderation|usage guidelines|SAFETY_CHECK/i,
  /**
   * xAI: an unknown key is a 400 with the code of any invalid argument. Source: xAI documentation, "Debugging errors".
   */
  xaiUnknownKey: /^Incorrect API key provided/,
  /** Z.ai: an account without a balance is a 429 with a number as its code. Source: Z.AI API reference, "Errors". */
  zaiBalanceExhausted: /^Insufficient balance or no resource package\b/i,
  /**
   * Vendors that report a bad key with 403, like a missing permission: "Your API key was reported as leaked", "Not
   * authenticated", "This organization has been disabled". It does not match "Your API key does not have permission to
   * …". Observed.
   */
  badKey: new RegExp(
    "^not authenticated\\b|\\b(?:invalid|incorrect|expired|revoked) (?:api[ _-]?key|credential|token)" +
      "|\\b(?:api[ _-]?key|credential|token)s? (?:is|was|has been|have been|are) " +
      "(?:reported as leaked|leaked|invalid|not valid|expired|revoked|disabled|deactivated|suspended|blocked)" +
      "|\\b(?:account|organization|team|workspace|project) (?:is|was|has been) " +
      "(?:disabled|deactivated|suspended|blocked|archived|banned)\\b",
    "i",
  ),
  /** Vendors that refuse the place or the model of a request with 403. The key is good for others. Observed. */
  deniedPlaceOrModel: /(?<![a-z])(?:region|country|territory|location|models?)(?![a-z])/i,
} as const satisfies Readonly<Record<string, RegExp>>;
