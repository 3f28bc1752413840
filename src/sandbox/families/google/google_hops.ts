import { GOOGLE_FACTS } from "../../../conversation/models/families/google.ts";
import { isObject, objectsOf, parsedOrNull } from "../../../conversation/neutral/wire_value.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import type { GenerationRequest, SimulatedHop } from "../../generate.ts";
import type { ReplyPlan } from "../../reply_plan.ts";
import { SimulatedError } from "../../simulated_error.ts";
import { fieldOf } from "./google_fields.ts";
import { factsIn } from "../known_facts.ts";

/** A word of a reply, or a call: what the simulated model makes with one token. */
interface Unit {
  readonly of: "reasoning" | number;
  readonly text: string;
}

/**
 * Returns the part of a long reply that one request makes. The directive `hop` replaces the vendor's limit. Source:
 * Gemini API, "Long decode": the limit of output tokens applies to all requests together, and each reads the prompt
 * and the output so far.
 *
 * @throws {SimulatedError} For a token that is not one of this vendor.
 */
export function hopOf(plan: ReplyPlan, { body, model, streamed, directives }: GenerationRequest): SimulatedHop | null {
  const token = fieldOf(body, "continuationToken");
  const { hopTokens } = factsIn(GOOGLE_FACTS, model);
  if (hopTokens === null) {
    if (token === undefined) return null;
    throw new SimulatedError(400, `Continuation is not supported for models/${model}.`);
  }
  const start = token === undefined ? 0 : startIn(token);
  const end = start + (directives.hop ?? (streamed ? hopTokens.streamed : hopTokens.whole));
  const units = unitsOf(plan);
  if (start === 0 && units.length <= end) return null;
  const made = units.slice(start, end);
  const isPaused = units.length > end;
  const textOf = (of: Unit["of"]) => made.filter((unit) => unit.of === of).map(({ text }) => text).join("");
  return {
    plan: {
      ...plan,
      reasoning: plan.reasoning && textOf("reasoning") !== "" ? { ...plan.reasoning, text: textOf("reasoning") } : null,
      parts: plan.parts.flatMap((part, index) => {
        const text = textOf(index);
        if (text === "") return [];
        return [part.kind === "text" ? { ...part, text } : part];
      }),
      stop: isPaused ? { reason: "paused", raw: "CONTINUATION" } : plan.stop,
    },
    tokensBefore: start,
    token: isPaused ? btoa(JSON.stringify({ start: end })) : null,
  };
}

function unitsOf({ reasoning, parts }: ReplyPlan): Unit[] {
  const words = (of: Unit["of"], text: string) =>
    (text.match(/\s*\S+\s*$|\s*\S+/g) ?? []).map((word) => ({ of, text: word }));
  return [
    ...reasoning === null ? [] : words("reasoning", reasoning.text),
    ...parts.flatMap((part, index) => part.kind === "text" ? words(index, part.text) : [{ of: index, text: "call" }]),
  ];
}

function startIn(token: unknown): number {
  const text = typeof token === "string" && /^[\w+/]+=*$/.test(token) && token.length % 4 === 0 ? atob(token) : "";
  const value = parsedOrNull(text);
  if (isObject(value) && typeof value.start === "number") return value.start;
  throw new SimulatedError(400, "Invalid continuation token.");
}

/** Adds the token to the reply, or the chunk of a stream, that pauses. */
export function withToken(body: JsonObject, token: string): JsonObject {
  const [candidate, ...others] = objectsOf(body.candidates);
  if (candidate?.finishReason !== "CONTINUATION") return body;
  return { ...body, candidates: [{ ...candidate, continuationToken: token }, ...others] };
}
