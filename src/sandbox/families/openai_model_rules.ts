import type { JsonObject } from "../../lib/json_object.ts";
import { isAbsent, isObject, listOf } from "../../conversation/wire_value.ts";
import { badParameter } from "./openai_fields.ts";

/** The settings of one model series. Models of other names accept every setting. */
interface Line {
  readonly name: RegExp;
  /** Empty for models without reasoning. */
  readonly efforts: readonly string[];
  /** When `temperature` and `top_p` are accepted. `none`: while the effort is `none`, which is also the default. */
  readonly samples: "always" | "none" | "never";
}

/** The first match applies. Source: OpenAI guides "Reasoning models", "Using GPT-5.2"; the vendor's error messages. */
const LINES: readonly Line[] = [
  { name: /^(gpt-[34]|chatgpt-|gpt-5(\.\d)?-chat)/, efforts: [], samples: "always" },
  { name: /^o\d/, efforts: ["low", "medium", "high"], samples: "never" },
  { name: /^gpt-5-pro/, efforts: ["high"], samples: "never" },
  { name: /^gpt-5(?!\.)/, efforts: ["minimal", "low", "medium", "high"], samples: "never" },
  { name: /^gpt-5\.1/, efforts: ["none", "low", "medium", "high"], samples: "none" },
  { name: /^gpt-5\.2/, efforts: ["none", "low", "medium", "high", "xhigh"], samples: "none" },
];

/** Checks the settings of a chat completion that depend on the model. Throws a `Refusal` with the vendor's message. */
export function checkChatModel(body: JsonObject, model: string): void {
  const line = lineOf(model);
  if (line === null) return;
  const { reasoning_effort: effort } = body;
  if (!isAbsent(effort) && line.efforts.length === 0) {
    throw badParameter("reasoning_effort", "Unrecognized request argument supplied: reasoning_effort");
  }
  checkEffort(effort, "reasoning_effort", line, model);
  if (line.efforts.length > 0 && !isAbsent(body.max_tokens)) {
    const message = "Unsupported parameter: 'max_tokens' is not supported with this model. Use " +
      "'max_completion_tokens' instead.";
    throw badParameter("max_tokens", message, "unsupported_parameter");
  }
  if (line.efforts.length > 0 && !isAbsent(body.stop) && line.samples === "never") throw unsupported("stop");
  if (samplesAt(line, effort)) return;
  for (const name of ["temperature", "top_p"]) {
    if (isAbsent(body[name]) || body[name] === 1) continue;
    const message =
      `Unsupported value: '${name}' does not support ${body[name]} with this model. Only the default (1) ` +
      "value is supported.";
    throw badParameter(name, message, "unsupported_value");
  }
}

/** Checks the settings of a response that depend on the model. Throws a `Refusal` with the vendor's message. */
export function checkResponsesModel(body: JsonObject): void {
  const model = String(body.model);
  const line = lineOf(model);
  if (line === null) return;
  const { effort = null, summary = null } = isObject(body.reasoning) ? body.reasoning : {};
  if (line.efforts.length === 0) {
    if (effort !== null) throw unsupported("reasoning.effort");
    if (summary !== null) throw unsupported("reasoning.summary");
    if (listOf(body.include).includes("reasoning.encrypted_content")) {
      throw badParameter("include", "Encrypted content is not supported with this model.");
    }
  }
  checkEffort(effort, "reasoning.effort", line, model);
  if (samplesAt(line, effort)) return;
  for (const name of ["temperature", "top_p"]) if (!isAbsent(body[name])) throw unsupported(name);
}

function lineOf(model: string): Line | null {
  return LINES.find(({ name }) => name.test(model)) ?? null;
}

function samplesAt({ samples }: Line, effort: unknown): boolean {
  return samples === "always" || (samples === "none" && (isAbsent(effort) || effort === "none"));
}

function checkEffort(effort: unknown, param: string, { efforts }: Line, model: string): void {
  if (isAbsent(effort) || efforts.length === 0 || efforts.includes(String(effort))) return;
  const known = efforts.map((each) => `'${each}'`).join(", ");
  const message =
    `Unsupported value: '${effort}' is not supported with the '${model}' model. Supported values are: ${known}.`;
  throw badParameter(param, message, "unsupported_value");
}

function unsupported(param: string): Error {
  const message = `Unsupported parameter: '${param}' is not supported with this model.`;
  return badParameter(param, message, "unsupported_parameter");
}
