import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import { listOf, numberOrNull, objectsOf, textOf } from "./wire_value.ts";

/** A token that a model could have chosen, with its probability. */
export interface TokenChoice {
  /** As text; vendors replace bytes that are not a whole character. */
  readonly token: string;
  /** The natural logarithm of its probability; not above 0. */
  readonly logprob: number;
  /** The token's bytes of UTF-8; null where the vendor does not give them. */
  readonly bytes: readonly number[] | null;
}

/** A token of a text, with the most likely alternatives at its position. */
export interface TokenLogprob extends TokenChoice {
  /** The most likely first; empty when none were requested. */
  readonly alternatives: readonly TokenChoice[];
}

/** Reads the tokens of a text as the chat and responses formats give them. */
export function readTokenLogprobs(list: unknown): TokenLogprob[] {
  return objectsOf(list).map((entry) => ({
    ...choiceIn(entry),
    alternatives: objectsOf(entry.top_logprobs).map(choiceIn),
  }));
}

function choiceIn({ token, logprob, bytes }: JsonObject): TokenChoice {
  return {
    token: textOf(token),
    logprob: numberOrNull(logprob) ?? 0,
    bytes: Array.isArray(bytes) ? listOf(bytes).filter((byte) => typeof byte === "number") : null,
  };
}

/** The inverse of {@linkcode readTokenLogprobs}. */
export function writeTokenLogprobs(tokens: readonly TokenLogprob[] = []): JsonObject[] {
  return tokens.map(({ alternatives, ...chosen }) => ({ ...chosen, top_logprobs: alternatives }));
}

/** The tokens of several texts, as a field to spread; nothing where there are none. */
export function logprobsField(
  ...lists: readonly (readonly TokenLogprob[] | undefined)[]
): { readonly logprobs?: readonly TokenLogprob[] } {
  const logprobs = lists.flatMap((list) => list ?? []);
  return logprobs.length > 0 ? { logprobs } : {};
}
