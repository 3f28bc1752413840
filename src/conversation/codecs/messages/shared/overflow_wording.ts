/** How this format says that a prompt does not fit; tools look for these words to shorten a conversation. */
export const OVERFLOW_WORDING = "prompt is too long";
