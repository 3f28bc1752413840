const SERVER_ERROR = "The server had an error while processing your request. Sorry about that!";

const MESSAGES: Readonly<Record<number, string>> = {
  408: "Request timed out.",
  429: "Rate limit reached for requests. Please try again later.",
  500: SERVER_ERROR,
  503: "The engine is currently overloaded, please try again later.",
};

/** Returns OpenAI's message for a status. Source: OpenAI API reference, "Error codes". */
export function failureMessage(status: number): string {
  return MESSAGES[status] ?? (status >= 500 ? SERVER_ERROR : "The request was refused.");
}
