import { countPromptTokens } from "./token_estimate.ts";
import type { TextTurn } from "./attempt.ts";

/** Whether a caller of the chat form asked for usage in the stream; callers of other forms always get theirs. */
export function wantsUsage(turn: TextTurn): boolean {
  const options = turn.body.stream_options;
  return typeof options === "object" && options !== null && "include_usage" in options &&
    options.include_usage === true;
}

/** The prompt tokens of a request by the gateway's own count. */
export async function promptTokensOfTurn(turn: TextTurn): Promise<number> {
  try {
    return await countPromptTokens(turn.codec.readRequest(turn.body));
  } catch {
    // What cannot be translated can still be counted, roughly.
    return Math.ceil(turn.bytes.length / 4);
  }
}
