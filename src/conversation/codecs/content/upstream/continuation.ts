import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { Continuation } from "../../../contract/continuation.ts";
import { isObject, listOf, objectOf, textOrNull } from "../../../neutral/wire_value.ts";
import { objectsIn } from "../shared/fields.ts";

/** Longer tokens are not sent back. */
const MAX_TOKEN_CHARACTERS = 1_048_576;

/**
 * Long replies of Gemini 4. Chunks of a stream can have tokens before its end. Usage is added up as Google's clients do
 * it. Source: Gemini API, "Long decode"; @google/genai 3.3.0, `automaticContinuation`.
 */
export const continuation: Continuation = {
  pauseIn(body) {
    const [candidate] = objectsIn(body.candidates);
    const token = textOrNull(candidate?.continuationToken);
    const isUsable = token !== null && token !== "" && token.length <= MAX_TOKEN_CHARACTERS;
    return { token: isUsable ? token : null, isPaused: candidate?.finishReason === "CONTINUATION" };
  },
  usageIn: (body) => isObject(body.usageMetadata) ? { usageMetadata: body.usageMetadata } : null,
  withUsage(body, earlier) {
    const [own, before] = [objectOf(body.usageMetadata), objectOf(earlier?.usageMetadata)];
    return own === null || before === null ? body : { ...body, usageMetadata: sumOf(before, own) };
  },
  resumed: (body) => withEnd(body, {}),
  limited: (body) => withEnd(body, { finishReason: "MAX_TOKENS" }),
  joined(reply, next) {
    const [first] = objectsIn(reply.candidates);
    const [second, ...others] = objectsIn(next.candidates);
    const content = objectOf(second?.content) ?? {};
    const parts = joinedParts(partsOf(first), partsOf(second));
    return { ...next, candidates: [{ ...second, content: { role: "model", ...content, parts } }, ...others] };
  },
};

function withEnd(body: JsonObject, end: JsonObject): JsonObject {
  const [candidate = {}, ...others] = objectsIn(body.candidates);
  const { finishReason: _reason, continuationToken: _token, ...rest } = candidate;
  return { ...body, candidates: [{ ...rest, ...end }, ...others] };
}

function partsOf(candidate: JsonObject | undefined): readonly JsonObject[] {
  return objectsIn(objectOf(candidate?.content)?.parts);
}

/** A text that goes on in the next reply is one part. */
function joinedParts(parts: readonly JsonObject[], next: readonly JsonObject[]): readonly JsonObject[] {
  const [last, first] = [parts.at(-1), next[0]];
  if (last === undefined || first === undefined) return [...parts, ...next];
  const isOne = typeof last.text === "string" && typeof first.text === "string" &&
    last.thoughtSignature === undefined &&
    (last.thought === true) === (first.thought === true);
  if (!isOne) return [...parts, ...next];
  return [...parts.slice(0, -1), { ...first, text: `${last.text}${first.text}` }, ...next.slice(1)];
}

function sumOf(before: JsonObject, own: JsonObject): JsonObject {
  const sum: JsonObject = { ...own };
  for (const [name, value] of Object.entries(before)) {
    if (name === FIRST_PROMPT) continue;
    const other = own[name];
    if (typeof value === "number") sum[name] = typeof other === "number" ? value + other : value;
    else if (Array.isArray(value)) sum[name] = sumOfDetails(value, listOf(other));
    else sum[name] = other ?? value;
  }
  sum[FIRST_PROMPT] = before[FIRST_PROMPT] ?? before.promptTokenCount ?? 0;
  return sum;
}

/** What Google's clients call the prompt of the first request, next to sums. */
const FIRST_PROMPT = "initialPromptTokenCount";

/** Tokens by modality. */
function sumOfDetails(before: readonly unknown[], own: readonly unknown[]): JsonObject[] {
  const counts = new Map<unknown, number>();
  for (const { modality, tokenCount } of [...objectsIn(before), ...objectsIn(own)]) {
    counts.set(modality, (counts.get(modality) ?? 0) + (typeof tokenCount === "number" ? tokenCount : 0));
  }
  return [...counts].map(([modality, tokenCount]) => ({ modality, tokenCount }));
}
