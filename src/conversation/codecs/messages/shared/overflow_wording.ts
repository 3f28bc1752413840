/** The error text of this format for a prompt that is too long. Clients search for it to shorten a conversation. */
export const OVERFLOW_WORDING = "prompt is too long";
