import { EMPTY_ERROR } from "../../../parts/request/pairing.ts";
import type { RequestTarget } from "../../../contract/upstream_format.ts";
import type { WriteResult } from "../../../neutral/write_result.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { Conversation, OutputFormat, Part, TextPart, ToolResultPart } from "../../../neutral/conversation.ts";
import { limitCacheMarks } from "./cache_marks.ts";
import { CONTINUE } from "../shared/continued_turn.ts";
import { type FieldNames, opaqueUserId, writeCache } from "../shared/fields.ts";
import { type ModelTraits, traitsOf } from "./model_traits.ts";
import { type AlternatingTurn, isVisible, pairCalls } from "../../../parts/request/alternating_turns.ts";
import { argumentsOf } from "../../../parts/request/call_input.ts";
import { splitInstructions } from "./kept_instructions.ts";
import { repairTurns } from "./repair_turns.ts";
import { forcesCall, planThinking } from "./thinking.ts";
import { wireCallId, wireToolName, writeTools, type Writing } from "./write_tools.ts";
import { withAcceptedNames } from "../../../schemas/accepted_names.ts";
import { anthropicDialect } from "../../../schemas/anthropic_dialect.ts";
import { describedSchema } from "../../../schemas/described_keywords.ts";
import { dialectFor } from "../../../schemas/schema_dialect.ts";
import { writeDefaultSettings } from "../../../parts/request/default_settings.ts";
import { addDroppedFormatFields } from "../../../parts/request/output_format_name.ts";
import { writeTier } from "../../../parts/request/service_tier.ts";
import { TIER_NAMES } from "./tier_names.ts";
import { searchBlocks, writeCitations } from "../shared/search_blocks.ts";
import { writeFile, writeImage } from "./write_media.ts";
import { writeSearch } from "./write_search.ts";

/**
 * Writes a request, adapted to what the vendor accepts.
 *
 * @throws {GatewayError} `invalid_request` for media that the format does not support.
 */
export function writeRequest(sent: Conversation, target: RequestTarget): WriteResult<JsonObject> {
  const { conversation, written } = target.quirks.has("any_property_names")
    ? { conversation: sent, written: {} }
    : withAcceptedNames(sent);
  const droppedFields: FieldNames = new Set();
  const traits = traitsOf(target);
  const writing = writingFor(conversation.outputFormat, traits, target);
  const turns = withoutBareReasoning(
    pairCalls(repairTurns(conversation.turns, target, droppedFields), wireCallId, droppedFields),
    traits,
    droppedFields,
  );
  const plan = planThinking(conversation, turns, target, traits, droppedFields);
  const thinks = plan.thinking !== null && (plan.thinking.type === "adaptive" || plan.thinking.type === "enabled");
  const system = writeSystem(conversation, writing);
  const search = writeSearch(conversation, target.hasWebSearch === true, droppedFields);
  const body: JsonObject = {
    model: target.model,
    max_tokens: plan.maxTokens,
    ...(system.length > 0 ? { system } : {}),
    messages: writeTurns(turns, thinks, droppedFields),
    ...writeTools(conversation, writing, calledTools(turns), search, droppedFields),
    ...(plan.thinking ? { thinking: plan.thinking } : {}),
    ...writeOutputConfig(conversation, plan.effort, writing, droppedFields),
    ...writeSampling(conversation, traits, thinks, droppedFields),
    ...(conversation.user === null ? {} : { metadata: { user_id: opaqueUserId(conversation.user) } }),
    ...writeTier(
      conversation.serviceTier,
      "service_tier",
      target.quirks.has("no_service_tier") ? {} : TIER_NAMES,
      droppedFields,
    ),
    ...(conversation.stream ? { stream: true } : {}),
  };
  limitCacheMarks(body, droppedFields);
  simplify(body);
  addDroppedSettings(conversation, droppedFields);
  return { body, droppedFields: [...droppedFields], ...renamedTools(conversation, turns), ...written };
}

/** The format of the reply comes first: it is of more use than strict tools, and they have limits in common. */
function writingFor(format: OutputFormat | null, traits: ModelTraits, { facts }: RequestTarget): Writing {
  const dialect = dialectFor(facts, anthropicDialect(traits));
  return { traits, dialect, format: format?.kind === "json_schema" ? dialect.output(format.schema, true) : null };
}

function addDroppedSettings(conversation: Conversation, droppedFields: FieldNames): void {
  if (conversation.cacheKey !== null) droppedFields.add("prompt_cache_key");
  if (conversation.verbosity !== null) droppedFields.add("verbosity");
  if (conversation.logprobs !== undefined) droppedFields.add("logprobs");
  writeDefaultSettings(conversation, false, droppedFields);
}

/**
 * Handles a last turn of the assistant. One with only reasoning is removed. Models that do not continue such a turn get
 * a request to continue.
 */
function withoutBareReasoning(
  turns: AlternatingTurn[],
  traits: ModelTraits,
  droppedFields: FieldNames,
): AlternatingTurn[] {
  const last = turns.at(-1);
  if (last?.role !== "assistant") return turns;
  if (last.parts.every((part) => part.kind === "reasoning")) {
    droppedFields.add("reasoning_signature");
    return turns.slice(0, -1);
  }
  if (traits.takesPrefill) return turns;
  droppedFields.add("turn_order");
  return [...turns, { role: "user", parts: [{ kind: "text", text: CONTINUE }] }];
}

function writeTurns(turns: readonly AlternatingTurn[], thinks: boolean, droppedFields: FieldNames): JsonObject[] {
  return turns.flatMap((turn, index) => {
    const isPrefill = turn.role === "assistant" && index === turns.length - 1;
    const { parts: own, instruction } = splitInstructions(turn, droppedFields);
    const parts = isPrefill ? prefillParts(own, thinks, droppedFields) : own;
    const content = parts.flatMap((part) => writePart(part, droppedFields));
    const message = content.length === 0 ? [] : [{ role: turn.role, content }];
    return instruction === null ? message : [...message, instruction];
  });
}

/**
 * The last assistant turn in the form that a model continues: it does not end in reasoning or whitespace, and contains
 * no reasoning when the model is not to reason.
 */
function prefillParts(parts: readonly Part[], thinks: boolean, droppedFields: FieldNames): Part[] {
  const end = parts.findLastIndex((part) => part.kind !== "reasoning");
  const kept = parts.filter((part, index) => part.kind !== "reasoning" || (thinks && index < end));
  if (kept.length < parts.length) droppedFields.add("reasoning_signature");
  const last = kept.at(-1);
  return last?.kind === "text" ? [...kept.slice(0, -1), { ...last, text: last.text.trimEnd() }] : kept;
}

/** Replaces single texts without a mark by strings, which every vendor of this format accepts. */
function simplify(body: JsonObject): void {
  if (Array.isArray(body.system)) body.system = stringIfSingle(body.system);
  for (const message of body.messages as { content: unknown }[]) {
    for (const block of message.content as JsonObject[]) {
      if (Array.isArray(block.content)) block.content = stringIfSingle(block.content);
    }
    message.content = stringIfSingle(message.content as JsonObject[]);
  }
}

function stringIfSingle(blocks: readonly JsonObject[]): unknown {
  const [block] = blocks;
  return block !== undefined && blocks.length === 1 && block.type === "text" && block.cache_control === undefined &&
      block.citations === undefined
    ? block.text
    : blocks;
}

function writePart(part: Part, droppedFields: FieldNames): JsonObject | JsonObject[] {
  switch (part.kind) {
    case "text":
    case "refusal":
      return writeText(part);
    case "image":
      return writeImage(part, droppedFields);
    case "file":
      return writeFile(part, droppedFields);
    case "reasoning":
      return part.redacted
        ? { type: "redacted_thinking", data: part.signature?.value }
        : { type: "thinking", thinking: part.text, signature: part.signature?.value };
    case "tool_call":
      return {
        type: "tool_use",
        id: part.callId,
        name: wireToolName(part.tool),
        input: argumentsOf(part),
        ...writeCache(part.cache),
      };
    case "tool_result":
      return writeResult(part, droppedFields);
    case "web_search":
      return searchBlocks(part);
    case "audio":
    case "video":
      throw new TypeError(`Unexpected part of kind "${part.kind}"`); // rejected by repairTurns
  }
}

function writeText(part: Pick<TextPart, "text" | "cache" | "citations">): JsonObject {
  const { text, cache, citations = [] } = part;
  const cited = citations.length > 0 ? { citations: writeCitations(citations) } : {};
  return { type: "text", text, ...cited, ...writeCache(cache) };
}

function writeResult(result: ToolResultPart, droppedFields: FieldNames): JsonObject {
  const parts = result.parts.filter(isVisible);
  // The vendor refuses marks within a result, and takes one beside it.
  const content = parts.flatMap<JsonObject>((part) => writePart(part, droppedFields)).map(withoutMark);
  return {
    type: "tool_result",
    tool_use_id: result.callId,
    ...(content.length > 0 ? { content } : result.isError ? { content: EMPTY_ERROR } : {}),
    ...(result.isError ? { is_error: true } : {}),
    ...writeCache(result.cache ?? parts.findLast(({ cache }) => cache !== undefined)?.cache),
  };
}

function withoutMark({ cache_control: _, ...block }: JsonObject): JsonObject {
  return block;
}

function calledTools(turns: readonly AlternatingTurn[]): Set<string> {
  const calls = turns.flatMap((turn) => turn.parts).filter((part) => part.kind === "tool_call");
  return new Set(calls.map((call) => wireToolName(call.tool)));
}

/** The caller's names of renamed tools, by their names on the wire. */
function renamedTools(
  { tools }: Conversation,
  turns: readonly AlternatingTurn[],
): Pick<WriteResult<JsonObject>, "toolNames"> {
  const names = tools.map(({ name }) => name);
  for (const { parts } of turns) {
    for (const part of parts) if (part.kind === "tool_call") names.push(part.tool);
  }
  const renamed = names.filter((name) => wireToolName(name) !== name);
  if (renamed.length === 0) return {};
  return { toolNames: new Map([...new Set(renamed)].map((name) => [wireToolName(name), name])) };
}

function writeSystem(conversation: Conversation, { traits, format }: Writing): JsonObject[] {
  const { instructions, outputFormat } = conversation;
  const blocks = instructions.filter((part) => part.text.trim() !== "").map(writeText);
  if (traits.forcedCalls === "never" && forcesCall(conversation)) {
    blocks.push(writeText({ text: describedChoice(conversation) }));
  }
  if (outputFormat?.kind === "json") {
    blocks.push(writeText({ text: "Answer with a single valid JSON object and nothing else." }));
  } else if (outputFormat && !format?.isStrict) {
    blocks.push(writeText({ text: describedSchema(outputFormat.schema) }));
  }
  return blocks;
}

/** The instruction for a call that cannot be forced. */
function describedChoice({ toolChoice }: Conversation): string {
  if (toolChoice?.kind !== "tool") return "Call at least one tool in your answer.";
  return `Call the tool "${wireToolName(toolChoice.tool)}" in your answer.`;
}

function writeOutputConfig(
  { outputFormat }: Conversation,
  effort: string | null,
  { format }: Writing,
  droppedFields: FieldNames,
): { output_config?: JsonObject } {
  const config: JsonObject = effort === null ? {} : { effort };
  addDroppedFormatFields(outputFormat, droppedFields);
  if (format?.isStrict) {
    if (format.isChanged) droppedFields.add("output_schema");
    config.format = { type: "json_schema", schema: format.schema };
  } else if (outputFormat) {
    droppedFields.add("output_format"); // requested in the instructions only, so not enforced
  }
  return Object.keys(config).length > 0 ? { output_config: config } : {};
}

function writeSampling(
  { sampling }: Conversation,
  traits: ModelTraits,
  thinks: boolean,
  droppedFields: FieldNames,
): JsonObject {
  const { temperature, topP, topK } = sampling;
  const stop = sampling.stop.filter((sequence) => sequence.trim() !== "");
  if (stop.length < sampling.stop.length) droppedFields.add("stop");
  if (sampling.presencePenalty !== null) droppedFields.add("presence_penalty");
  if (sampling.frequencyPenalty !== null) droppedFields.add("frequency_penalty");
  if (sampling.seed !== null) droppedFields.add("seed");
  const allowsSampling = traits.takesSampling && !thinks;
  const keepsTopP = topP !== null && traits.takesSampling && (!thinks || topP >= 0.95) &&
    (temperature === null || thinks || traits.takesBothSamplings);
  if (temperature !== null && temperature !== 1 && (!allowsSampling || temperature > 1)) {
    droppedFields.add("temperature");
  }
  if (topP !== null && topP !== 1 && !keepsTopP) droppedFields.add("top_p");
  if (topK !== null && !allowsSampling) droppedFields.add("top_k");
  return {
    ...(temperature !== null && allowsSampling ? { temperature: Math.min(1, Math.max(0, temperature)) } : {}),
    ...(keepsTopP ? { top_p: topP } : {}),
    ...(topK !== null && allowsSampling ? { top_k: topK } : {}),
    ...(stop.length > 0 ? { stop_sequences: stop } : {}),
  };
}
