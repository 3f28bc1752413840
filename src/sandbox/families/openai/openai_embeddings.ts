import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { bodyOf, type Call, isMissingModel, jsonResponse } from "../../call.ts";
import { followDirectives } from "../../pictures/make.ts";
import { SimulatedError } from "../../simulated_error.ts";
import { tokensOf } from "../../tokens.ts";
import { SANDBOX_DIMENSIONS, vectorOf, writeBase64Vector } from "../../vectors.ts";
import { badParameter, checkPresent, checkRange } from "./openai_fields.ts";
import { failureMessage } from "./openai_messages.ts";

const FIELDS: ReadonlySet<string> = new Set(["model", "input", "encoding_format", "dimensions", "user"]);
const MAX_INPUTS = 2_048;
const MAX_DIMENSIONS = 4_096;

/** `POST /v1/embeddings`. Source: OpenAI API reference, "Create embeddings". */
export async function makeEmbeddings(call: Call): Promise<Response> {
  const body = bodyOf(call, "We could not parse the JSON body of your request.");
  const inputs = checkedInputs(body);
  const model = String(body.model);
  const directives = await followDirectives(call, textsOf(inputs).join("\n"), "openai", failureMessage);
  if (directives instanceof Response) return directives;
  const dimensions = Number(body.dimensions ?? SANDBOX_DIMENSIONS);
  const prompt_tokens = inputs.reduce((sum, input) => sum + inputTokensOf(input), 0);
  return jsonResponse({
    object: "list",
    data: inputs.map((input, index) => {
      const vector = vectorOf(typeof input === "string" ? input : input.join(" "), dimensions);
      const embedding = body.encoding_format === "base64" ? writeBase64Vector(vector) : vector;
      return { object: "embedding", index, embedding };
    }),
    model,
    ...directives.noUsage ? {} : { usage: { prompt_tokens, total_tokens: prompt_tokens } },
  }, { "x-request-id": call.requestId });
}

/** A text or the ids of its tokens. */
type Input = string | readonly number[];

function checkedInputs(body: JsonObject): readonly Input[] {
  const unknown = Object.keys(body).find((name) => !FIELDS.has(name));
  if (unknown !== undefined) throw badParameter(unknown, `Unknown parameter: '${unknown}'.`, "unknown_parameter");
  checkPresent(body, "model");
  checkPresent(body, "input");
  checkRange(body, "dimensions", 1, MAX_DIMENSIONS);
  const model = String(body.model);
  if (isMissingModel(model)) {
    throw new SimulatedError(404, `The model \`${model}\` does not exist.`, { code: "model_not_found" });
  }
  const format = body.encoding_format ?? "float";
  if (format !== "float" && format !== "base64") throw badParameter("encoding_format", "Invalid encoding_format.");
  const inputs = inputsIn(body.input);
  if (inputs === null || inputs.length > MAX_INPUTS || inputs.some((input) => input.length === 0)) {
    throw badParameter("input", "'$.input' is invalid. Please check the API reference.");
  }
  return inputs;
}

function inputsIn(value: unknown): readonly Input[] | null {
  if (isInput(value)) return [value];
  return Array.isArray(value) && value.length > 0 && value.every(isInput) ? value : null;
}

function isInput(value: unknown): value is Input {
  if (typeof value === "string") return true;
  return Array.isArray(value) && value.length > 0 && value.every((id) => typeof id === "number");
}

function textsOf(inputs: readonly Input[]): readonly string[] {
  return inputs.filter((input) => typeof input === "string");
}

function inputTokensOf(input: Input): number {
  return typeof input === "string" ? Math.max(1, tokensOf(input)) : input.length;
}
