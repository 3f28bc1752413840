import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { TokenChoice, TokenLogprob } from "../../../neutral/logprobs.ts";
import { isObject, numberOrNull, textOf } from "../../../neutral/wire_value.ts";
import { objectsIn } from "./fields.ts";

/**
 * The tokens of a candidate or chunk. Tokens have no bytes in this format.
 * Source: Gemini API reference, "LogprobsResult".
 */
export function readLogprobsResult(result: unknown): TokenLogprob[] {
  if (!isObject(result)) return [];
  const alternatives = objectsIn(result.topCandidates).map(({ candidates }) => objectsIn(candidates).map(choiceIn));
  return objectsIn(result.chosenCandidates).map((chosen, at) => ({
    ...choiceIn(chosen),
    alternatives: alternatives[at] ?? [],
  }));
}

function choiceIn({ token, logProbability }: JsonObject): TokenChoice {
  return { token: textOf(token), logprob: numberOrNull(logProbability) ?? 0, bytes: null };
}

/** The inverse of {@linkcode readLogprobsResult}, as fields of a candidate; empty without tokens. */
export function writeLogprobs(tokens: readonly TokenLogprob[]): JsonObject {
  if (tokens.length === 0) return {};
  const sum = tokens.reduce((total, { logprob }) => total + logprob, 0);
  return {
    avgLogprobs: sum / tokens.length,
    logprobsResult: {
      chosenCandidates: tokens.map(writeChoice),
      topCandidates: tokens.map(({ alternatives }) => ({ candidates: alternatives.map(writeChoice) })),
    },
  };
}

function writeChoice({ token, logprob }: TokenChoice): JsonObject {
  return { token, logProbability: logprob };
}
