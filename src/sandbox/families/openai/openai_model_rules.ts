import type { ModelFacts } from "../../../conversation/facts/model_facts.ts";
import { OPENAI_FACTS } from "../../../conversation/models/families/openai.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { isAbsent, isObject, listOf, objectsOf } from "../../../conversation/neutral/wire_value.ts";
import { SimulatedError } from "../../simulated_error.ts";
import { badParameter } from "./openai_fields.ts";
import { factsIn } from "../known_facts.ts";

/** Sampling settings of a chat completion besides `temperature` and `top_p`, with the values that change nothing. */
const CHAT_SAMPLING: Readonly<Record<string, unknown>> = {
  presence_penalty: 0,
  frequency_penalty: 0,
  logprobs: false,
  top_logprobs: 0,
  logit_bias: undefined,
};

/**
 * Checks what a chat completion may ask of its model: efforts, function tools, sampling and limits. Source: the facts
 * of OpenAI's models; the vendor's error messages.
 *
 * @throws {SimulatedError}
 */
export function checkChatModel(body: JsonObject, model: string): void {
  const facts = factsIn(OPENAI_FACTS, model);
  if (facts.hasChat === false) {
    const message = "This model is only supported in v1/responses and not in v1/chat/completions.";
    throw new SimulatedError(404, message, { param: "model" });
  }
  const { reasoning_effort: effort } = body;
  if (facts.canReason === false && !isAbsent(effort)) {
    throw badParameter("reasoning_effort", "Unrecognized request argument supplied: reasoning_effort");
  }
  if (facts.canReason !== true) return checkSampling(body, facts, false);
  const { efforts, chatEfforts } = facts;
  const taken = efforts?.filter((each) => chatEfforts === null || chatEfforts.includes(each)) ?? chatEfforts;
  checkEffort(effort, "reasoning_effort", taken, model);
  const reasons = reasonsAt(effort, facts);
  checkTools(body, model, facts, reasons);
  if (facts.hasChatMaxTokens === false && !isAbsent(body.max_tokens)) {
    const message = "Unsupported parameter: 'max_tokens' is not supported with this model. Use " +
      "'max_completion_tokens' instead.";
    throw badParameter("max_tokens", message, "unsupported_parameter");
  }
  if (reasons && facts.hasChatStop === false && !isAbsent(body.stop)) throw unsupported("stop");
  checkSampling(body, facts, reasons);
}

/** Does the same for a request of the responses format. */
export function checkResponsesModel(body: JsonObject): void {
  const model = String(body.model);
  const facts = factsIn(OPENAI_FACTS, model);
  const { effort = null, summary = null } = isObject(body.reasoning) ? body.reasoning : {};
  if (facts.canReason === false) {
    if (effort !== null) throw unsupported("reasoning.effort");
    if (summary !== null) throw unsupported("reasoning.summary");
    if (listOf(body.include).includes("reasoning.encrypted_content")) {
      throw badParameter("include", "Encrypted content is not supported with this model.");
    }
  }
  checkToolSearch(body, facts);
  if (facts.canReason !== true) return;
  checkEffort(effort, "reasoning.effort", facts.efforts, model);
  if (takesSampling(facts, reasonsAt(effort, facts))) return;
  for (const name of ["temperature", "top_p", "top_logprobs"]) if (!isAbsent(body[name])) throw unsupported(name);
}

/** Source: OpenAI, guide Tool search; model page of GPT-5.4 nano. The words of the refusals were not seen. */
function checkToolSearch(body: JsonObject, { hasToolSearch }: ModelFacts): void {
  if (hasToolSearch !== false) return;
  const added = placedIn(body.input, "input").flatMap(({ owner, path }) => placedIn(owner.tools, `${path}.tools`));
  const outer = [...placedIn(body.tools, "tools"), ...added];
  const inner = outer.flatMap(({ owner, path }) => placedIn(owner.tools, `${path}.tools`));
  for (const { owner, path } of [...outer, ...inner]) {
    if (owner.type === "tool_search") throw unsupported(path);
    if (owner.defer_loading === true) throw unsupported(`${path}.defer_loading`);
  }
}

/**
 * The names of the tools that a choice may name: those of `tools`, and for some models those that items of the input
 * add. Source: pydantic/pydantic-ai, profile of OpenAI.
 */
export function choosableTools(body: JsonObject): ReadonlySet<string> {
  const isAdded = factsIn(OPENAI_FACTS, String(body.model)).hasAddedToolChoice !== false;
  const added = objectsOf(body.input).filter(({ type }) => ADDS_TOOLS.includes(String(type)));
  const lists = [body.tools, ...isAdded ? added.map(({ tools }) => tools) : []];
  return new Set(lists.flatMap((list) => objectsOf(list).map(({ name }) => String(name))));
}

const ADDS_TOOLS = ["additional_tools", "tool_search_output"];

/**
 * Refuses the marks of other vendors, and those of OpenAI for models without them. Source: BerriAI/litellm#28431, which
 * has the whole answer; Responses API reference, `prompt_cache_options`.
 *
 * @param list The member with the contents.
 */
export function checkCacheMarks(body: JsonObject, list: "messages" | "input"): void {
  const { hasCacheBreakpoints } = factsIn(OPENAI_FACTS, String(body.model));
  if (hasCacheBreakpoints === false && !isAbsent(body.prompt_cache_options)) throw unsupported("prompt_cache_options");
  const owners = [...placedIn(body.tools, "tools"), ...placedIn(body[list], list)];
  for (const { owner, path } of owners) {
    const parts = ["content", "output"].flatMap((name) => placedIn(owner[name], `${path}.${name}`));
    for (const each of [{ owner, path }, ...parts]) {
      if (each.owner.cache_control !== undefined) {
        const param = `${each.path}.cache_control`;
        throw badParameter(param, `Unknown parameter: '${param}'.`, "unknown_parameter");
      }
      if (hasCacheBreakpoints === false && each.owner.prompt_cache_breakpoint !== undefined) {
        throw unsupported(`${each.path}.prompt_cache_breakpoint`);
      }
    }
  }
}

function placedIn(list: unknown, path: string): { readonly owner: JsonObject; readonly path: string }[] {
  return listOf(list).flatMap((owner, index) => isObject(owner) ? [{ owner, path: `${path}[${index}]` }] : []);
}

/** Whether the model reasons: with the effort of the request, otherwise with its own default. */
function reasonsAt(effort: unknown, { defaultEffort }: ModelFacts): boolean {
  return (isAbsent(effort) ? defaultEffort : effort) !== "none";
}

function takesSampling({ samplingSupport }: ModelFacts, reasons: boolean): boolean {
  return samplingSupport !== "never" && (samplingSupport !== "without_reasoning" || !reasons);
}

function checkEffort(effort: unknown, param: string, efforts: readonly string[] | null, model: string): void {
  if (isAbsent(effort) || efforts === null || efforts.includes(String(effort))) return;
  const known = efforts.map((each) => `'${each}'`).join(", ");
  const message =
    `Unsupported value: '${effort}' is not supported with the '${model}' model. Supported values are: ${known}.`;
  throw badParameter(param, message, "unsupported_value");
}

/** Source: openai/openai-openapi#541 and reports with the whole answer for gpt-5.6-terra. */
function checkTools(body: JsonObject, model: string, { chatTools, efforts }: ModelFacts, reasons: boolean): void {
  const isRefused = chatTools === "never" || (chatTools === "without_reasoning" && reasons);
  const hasFunctions = objectsOf(body.tools).some(({ type }) => type === "function") ||
    listOf(body.functions).length > 0;
  if (!isRefused || !hasFunctions) return;
  const hasNone = efforts?.includes("none") !== false;
  throw new SimulatedError(
    400,
    `Function tools with reasoning_effort are not supported for ${model} in /v1/chat/completions. To use function ` +
      `tools, use /v1/responses${hasNone ? " or set reasoning_effort to 'none'" : ""}.`,
    { param: "reasoning_effort" },
  );
}

function checkSampling(body: JsonObject, facts: ModelFacts, reasons: boolean): void {
  if (takesSampling(facts, reasons)) return;
  for (const name of ["temperature", "top_p"]) {
    if (isAbsent(body[name]) || body[name] === 1) continue;
    const message =
      `Unsupported value: '${name}' does not support ${body[name]} with this model. Only the default (1) ` +
      "value is supported.";
    throw badParameter(name, message, "unsupported_value");
  }
  for (const [name, unchanged] of Object.entries(CHAT_SAMPLING)) {
    if (!isAbsent(body[name]) && body[name] !== unchanged) throw unsupported(name);
  }
}

function unsupported(param: string): SimulatedError {
  const message = `Unsupported parameter: '${param}' is not supported with this model.`;
  return badParameter(param, message, "unsupported_parameter");
}
