/**
 * Facts that vendors put into the text of an error and nowhere else. Every other decision is made by an error's status,
 * code or type. Each entry names the document or the observation that the text is from.
 */
export const ERROR_TEXTS = {
  /** fal: 400 without a type for a result that cannot be read yet. Source: fal documentation, "Queue API". */
  falResultPending: /\bstill in progress\b/i,
  /** fal: 403 without a type for an account without a balance. Observed. */
  falBalanceExhausted: /\bexhausted balance\b/i,
  /** Gemini Omni: errors of its front end have the number of the status as their code. Observed. */
  googleContentRefusal: /SAFETY|PROHIBITED_CONTENT/,
  /** Kling: a failed job has a message and no code. Source: Kling API reference, "Query Task", `task_status_msg`. */
  klingContentRefusal: /risk control|sensitive|content (?:policy|security)|moderation/i,
  /** MiniMax: bodies of version 2 have no number 1026 or 1027. Source: MiniMax API reference, "Error codes". */
  minimaxContentRefusal: /\bnew_sensitive\b/,
  /** Replicate: an error is one string, written by the model. Source: Replicate HTTP API reference, "Predictions". */
  replicateContentRefusal:
    /flagged as sensitive|\bE005\b|NSFW content|content[ _-]?(?:policy|moderation|filter)|moderated/i,
  /** Replicate: a 429 has no `retry-after`. The group is the number of seconds. Source: as above, "Rate limits". */
  replicateRateLimitReset: /resets in ~?(\d{1,4}) ?s/,
  /** xAI: refusals are a 400 with the code of any invalid argument. Source: xAI documentation, "Debugging errors". */
  xaiContentRefusal: /content moderation|usage guidelines|SAFETY_CHECK/i,
  /** xAI: an unknown key is a 400 with the code of any invalid argument. Source: xAI documentation, "Debugging errors". */
  xaiUnknownKey: /^Incorrect API key provided/,
  /**
   * Vendors that answer a bad key with 403, as for a missing permission: "Your API key was reported as leaked",
   * "Not authenticated"; but not "Your API key does not have permission to …". Observed.
   */
  badKey: new RegExp(
    "^not authenticated\\b|\\b(?:invalid|incorrect|expired|revoked) (?:api[ _-]?key|credential|token)" +
      "|\\b(?:api[ _-]?key|credential|token)s? (?:is|was|has been|have been|are) " +
      "(?:reported as leaked|leaked|invalid|not valid|expired|revoked|disabled|deactivated|suspended|blocked)",
    "i",
  ),
} as const satisfies Readonly<Record<string, RegExp>>;
