import { isObject } from "../../../conversation/neutral/wire_value.ts";
import { bodyOf, type Call, isMissingModel, jsonResponse } from "../../call.ts";
import { followDirectives } from "../../pictures/make.ts";
import { SimulatedError } from "../../simulated_error.ts";
import { badParameter, checkPresent } from "./openai_fields.ts";
import { failureMessage } from "./openai_messages.ts";

/** The flagged categories, each with the words that it is flagged by. */
const WORDS: Readonly<Record<string, RegExp>> = {
  harassment: /\b(?:idiot|moron)\b/i,
  hate: /\bhate\b/i,
  "self-harm": /\bhurt myself\b/i,
  sexual: /\bsexual\b/i,
  violence: /\b(?:kill|punch|stab)\b/i,
};

/** `POST /v1/moderations`. Source: OpenAI API reference, "Create moderation". */
export async function moderate(call: Call): Promise<Response> {
  const body = bodyOf(call, "We could not parse the JSON body of your request.");
  const unknown = Object.keys(body).find((name) => name !== "model" && name !== "input");
  if (unknown !== undefined) throw badParameter(unknown, `Unknown parameter: '${unknown}'.`, "unknown_parameter");
  checkPresent(body, "input");
  const model = String(body.model ?? "omni-moderation-latest");
  if (isMissingModel(model)) {
    throw new SimulatedError(404, `The model \`${model}\` does not exist.`, { code: "model_not_found" });
  }
  const texts = textsIn(body.input);
  const directives = await followDirectives(call, texts.join("\n"), "openai", failureMessage);
  if (directives instanceof Response) return directives;
  const id = `modr-${call.vendors.nextId()}`;
  return jsonResponse({ id, model, results: texts.map(resultOf) }, { "x-request-id": call.requestId });
}

/** Parts are checked together. */
function textsIn(input: unknown): readonly string[] {
  if (typeof input === "string") return [input];
  if (!Array.isArray(input) || input.length === 0) throw badParameter("input", "'$.input' is invalid.");
  if (input.every((each) => typeof each === "string")) return input;
  return [input.map((part: unknown) => isObject(part) ? String(part.text ?? "") : "").join(" ")];
}

function resultOf(text: string) {
  const found = Object.entries(WORDS).map(([name, words]) => [name, words.test(text)] as const);
  return {
    flagged: found.some(([, isFound]) => isFound),
    categories: Object.fromEntries(found),
    category_scores: Object.fromEntries(found.map(([name, isFound]) => [name, isFound ? 0.9 : 0.01])),
    category_applied_input_types: Object.fromEntries(found.map(([name]) => [name, ["text"]])),
  };
}
