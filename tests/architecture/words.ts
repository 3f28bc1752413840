/** A word that names do not use, and what they use in its place. `CONTRIBUTING.md` explains the choice. */
export interface ReplacedWord {
  /**
   * Matches the words of a name, in lower case with single spaces between them: `MAX_BODY_BYTES` is `max body bytes`.
   */
  readonly pattern: RegExp;
  readonly instead: string;
}

/** The words that names of exports and constants do not use. */
export const REPLACED_WORDS: readonly ReplacedWord[] = [
  { pattern: /^(?:most|longest|largest|greatest|deepest|latest possible)\b/, instead: "MAX_" },
  { pattern: /^(?:least|smallest|shortest|soonest)\b/, instead: "MIN_" },
  { pattern: /^usual\b/, instead: "DEFAULT_" },
  { pattern: /\bseals?\b/, instead: "ReasoningSignature, signature" },
  { pattern: /\bproofs?\b/, instead: "signature" },
  { pattern: /\b(?:beyond|losses)\b/, instead: "unsupportedFields, droppedFields" },
  { pattern: /\bdesks?\b/, instead: "…Admin" },
  { pattern: /\bstory\b/, instead: "…WithHold, …WithAttempts" },
  { pattern: /\bpurses?\b/, instead: "AccountMeter" },
  { pattern: /\bfoundation\b/, instead: "Services" },
  { pattern: /\bseam\b/, instead: "hook, onX" },
  { pattern: /\b(?:seats?|passage|come back at)\b/, instead: "ConcurrencyLimiter, Permit, retryAt" },
  { pattern: /\b(?:begins|said nothing|is resting|resting)\b/, instead: "onStart, onNeutral, isOpen" },
  {
    pattern: /\b(?:world|voice plan|speech plan|beats?|asks?)\b/,
    instead: "SimulatedVendors, ReplyPlan, Chunk, Request",
  },
  { pattern: /\b(?:truth|or nothing|plain number)\b/, instead: "boolean, optional, number" },
  {
    pattern: /\b(?:legal word|cut word|made call id|says something)\b/,
    instead: "sanitizeName, truncateName, newCallId, hasText",
  },
  {
    pattern: /\b(?:told|asked|said|says|deeds?|owed|owes)\b/,
    instead: "logged or returned, requested, reported, action, pending",
  },
  { pattern: /\btext turns?\b/, instead: "TextRequest, TextService" },
  { pattern: /\b(?:wish|wishes|wished)\b/, instead: "setting, option, preference" },
  { pattern: /\bpictures?\b/, instead: "Image" },
  { pattern: /\b(?:memory|create|token) leases?\b/, instead: "HeldMemory; a lease ends by itself" },
  { pattern: /\b(?:whose|whom)\b/, instead: "a noun" },
];

/** The words of a name in lower case: `readSealOf` and `READ_SEAL_OF` are both `read seal of`. */
export function wordsOf(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, "$1 $2").replaceAll("_", " ").trim().toLowerCase();
}

/** What to use instead of a word of this name; null when no word of it is replaced. */
export function replacementFor(name: string): string | null {
  return REPLACED_WORDS.find(({ pattern }) => pattern.test(wordsOf(name)))?.instead ?? null;
}
