import type { Conversation, OutputFormat } from "../../../neutral/conversation.ts";
import { writeDefaultSettings } from "../../../parts/request/default_settings.ts";
import { describedSchema } from "../../../schemas/described_keywords.ts";
import { writeTier } from "../../../parts/request/service_tier.ts";
import type { RequestTarget } from "../../../contract/upstream_format.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { TIER_NAMES } from "./tier_names.ts";
import { reasoningFields } from "./reasoning_fields.ts";
import type { Writing } from "./writing.ts";

/** Writes the settings of a request, as fields to spread. */
export function writeSettings(conversation: Conversation, target: RequestTarget, writing: Writing): JsonObject {
  const { droppedFields } = writing;
  const inference = inferenceConfig(conversation, target, writing);
  const additional = {
    ...reasoningFields(conversation, target, writing),
    ...topKFields(conversation, writing),
  };
  const tier = writeTier(
    conversation.serviceTier,
    "type",
    target.quirks.has("no_service_tier") ? {} : TIER_NAMES,
    droppedFields,
  );
  addDroppedSettings(conversation, droppedFields);
  return {
    ...fieldOf("inferenceConfig", inference),
    ...fieldOf("outputConfig", outputConfig(conversation, writing)),
    ...fieldOf("additionalModelRequestFields", additional),
    ...fieldOf("serviceTier", tier),
    ...fieldOf("requestMetadata", requestMetadata(conversation, droppedFields)),
  };
}

/** A field with an object, to spread; empty for an empty object. */
function fieldOf(name: string, value: Readonly<Record<string, unknown>>): JsonObject {
  return Object.keys(value).length === 0 ? {} : { [name]: value };
}

function addDroppedSettings(conversation: Conversation, droppedFields: Set<string>): void {
  const { presencePenalty, frequencyPenalty, seed } = conversation.sampling;
  if (presencePenalty !== null) droppedFields.add("presence_penalty");
  if (frequencyPenalty !== null) droppedFields.add("frequency_penalty");
  if (seed !== null) droppedFields.add("seed");
  if (conversation.user !== null) droppedFields.add("user");
  if (conversation.cacheKey !== null) droppedFields.add("prompt_cache_key");
  if (conversation.verbosity !== null) droppedFields.add("verbosity");
  if (conversation.logprobs !== undefined) droppedFields.add("logprobs");
  const { metadata: _carried, ...others } = conversation;
  writeDefaultSettings(others, false, droppedFields);
}

function inferenceConfig(
  { sampling, maxOutputTokens }: Conversation,
  { maxOutputTokens: limit }: RequestTarget,
  { traits, droppedFields }: Writing,
): JsonObject {
  const config: JsonObject = {};
  if (maxOutputTokens !== null) {
    if (limit !== null && maxOutputTokens > limit) droppedFields.add("max_tokens");
    config.maxTokens = Math.max(1, Math.min(maxOutputTokens, limit ?? Infinity));
  }
  const { temperature, topP } = sampling;
  if (temperature !== null && temperature !== 1 && (!traits.takesSampling || temperature > 1)) {
    droppedFields.add("temperature");
  }
  if (topP !== null && topP !== 1 && !traits.takesSampling) droppedFields.add("top_p");
  if (temperature !== null && traits.takesSampling) config.temperature = Math.min(1, Math.max(0, temperature));
  if (topP !== null && traits.takesSampling) config.topP = topP;
  const stop = sampling.stop.filter((sequence) => sequence !== "");
  if (stop.length > 0) config.stopSequences = stop;
  return config;
}

function topKFields({ sampling: { topK } }: Conversation, { traits, droppedFields }: Writing): JsonObject {
  if (topK === null) return {};
  if (traits.takesTopK) return { inferenceConfig: { topK } };
  droppedFields.add("top_k");
  return {};
}

function outputConfig({ outputFormat }: Conversation, { format, droppedFields }: Writing): JsonObject {
  if (outputFormat === null) return {};
  if (outputFormat.kind === "json" || !format?.isStrict) {
    droppedFields.add("output_format"); // requested in the instructions only, so not enforced
    return {};
  }
  if (format.isChanged) droppedFields.add("output_schema");
  const { name, description } = outputFormat;
  const jsonSchema = {
    schema: JSON.stringify(format.schema),
    name: name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, MAX_NAME_CHARACTERS),
    ...(description !== null && { description }),
  };
  return { textFormat: { type: "json_schema", structure: { jsonSchema } } };
}

const MAX_NAME_CHARACTERS = 64;

/** The instruction for an output format that cannot be enforced; null if none is needed. */
export function describedFormat(format: OutputFormat | null, accepted: Pick<Writing, "format">): string | null {
  if (format?.kind === "json") return "Answer with a single valid JSON object and nothing else.";
  if (format === null || accepted.format?.isStrict) return null;
  return describedSchema(format.schema);
}

const MAX_METADATA = 16;
/** Source: Amazon Bedrock API reference, "Converse", `requestMetadata`. */
const METADATA_TEXT = /^[a-zA-Z0-9\s:_@$#=/+,.-]{0,256}$/;

/** The caller's own keys and values, which the vendor writes to the account's logs of requests. */
function requestMetadata({ metadata }: Conversation, droppedFields: Set<string>): JsonObject {
  const entries = Object.entries(metadata ?? {});
  const valid = entries.filter(([key, value]) =>
    key !== "" && METADATA_TEXT.test(key) && typeof value === "string" && METADATA_TEXT.test(value)
  ).slice(0, MAX_METADATA);
  if (metadata !== undefined && (valid.length < entries.length || entries.length === 0)) droppedFields.add("metadata");
  return Object.fromEntries(valid);
}
