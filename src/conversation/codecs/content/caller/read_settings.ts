import { invalidField } from "../../../../lib/gateway_error.ts";
import type { JsonObject } from "../../../../lib/json_object.ts";
import type { Effort, OutputFormat, ReasoningRequest, Sampling } from "../../../conversation.ts";
import { isObject, numberOrNull, textOrNull } from "../../../wire_value.ts";
import { field, fieldsBeyond, objectsIn, spellingOf } from "../shared/fields.ts";
import { detailOf } from "./read_turns.ts";
import { jsonSchemaOf } from "../shared/schema.ts";

/** What `generationConfig` says, in neutral words. */
export interface Settings {
  readonly maxOutputTokens: number | null;
  readonly sampling: Sampling;
  readonly outputFormat: OutputFormat | null;
  readonly reasoning: ReasoningRequest | null;
  /** How closely to look at pictures, null when not said. */
  readonly detail: string | null;
}

const KNOWN = new Set([
  "temperature",
  "topP",
  "topK",
  "candidateCount",
  "maxOutputTokens",
  "stopSequences",
  "seed",
  "presencePenalty",
  "frequencyPenalty",
  "responseMimeType",
  "responseSchema",
  "responseJsonSchema",
  "responseFormat",
  "responseModalities",
  "thinkingConfig",
  "mediaResolution",
]);

/**
 * Reads a checked `generationConfig`.
 *
 * @param path How the caller spelled it.
 * @param beyond Receives the names of what could not be read.
 * @throws {GatewayError} `invalid_request` for whole numbers too large to be kept, and for several candidates.
 */
export function readSettings(config: JsonObject, path: string, beyond: Set<string>): Settings {
  for (const key of fieldsBeyond(config, KNOWN)) beyond.add(`${path}.${key}`);
  const stop = field(config, "stopSequences");
  refuseCandidates(config, path);
  reportModalities(config, path, beyond);
  return {
    maxOutputTokens: safeInteger(field(config, "maxOutputTokens"), `${path}.maxOutputTokens`),
    sampling: {
      temperature: numberOrNull(config.temperature),
      topP: numberOrNull(field(config, "topP")),
      topK: numberOrNull(field(config, "topK")),
      presencePenalty: numberOrNull(field(config, "presencePenalty")),
      frequencyPenalty: numberOrNull(field(config, "frequencyPenalty")),
      seed: safeInteger(config.seed, `${path}.seed`),
      stop: Array.isArray(stop) ? stop.filter((sequence) => typeof sequence === "string" && sequence !== "") : [],
    },
    outputFormat: readOutputFormat(config, path, beyond),
    reasoning: readReasoning(config, path, beyond),
    detail: readDetail(config, path, beyond),
  };
}

/** JSON numbers beyond 2^53 have already become other numbers when they are read. */
function safeInteger(value: unknown, path: string): number | null {
  const number = numberOrNull(value);
  if (number !== null && !Number.isSafeInteger(number)) {
    throw invalidField(path, "expected a whole number of at most 2^53 - 1");
  }
  return number;
}

function refuseCandidates(config: JsonObject, path: string): void {
  const count = numberOrNull(field(config, "candidateCount"));
  if (count !== null && count > 1) {
    const name = `${path}.${spellingOf(config, "candidateCount")}`;
    throw invalidField(name, "several candidates cannot be translated for this model's vendor, expected 1");
  }
}

function reportModalities(config: JsonObject, path: string, beyond: Set<string>): void {
  const modalities = field(config, "responseModalities");
  const isText = Array.isArray(modalities) && modalities.every((modality) => modality === "TEXT");
  if (modalities !== undefined && !isText) beyond.add(`${path}.${spellingOf(config, "responseModalities")}`);
}

function readOutputFormat(config: JsonObject, path: string, beyond: Set<string>): OutputFormat | null {
  const newer = readResponseFormat(config, path, beyond);
  if (newer !== null) return newer;
  const type = textOrNull(field(config, "responseMimeType"));
  if (type === null || type === "text/plain") return null;
  if (type !== "application/json") {
    beyond.add(`${path}.${spellingOf(config, "responseMimeType")}`);
    return null;
  }
  const jsonSchema = field(config, "responseJsonSchema");
  if (isObject(jsonSchema)) return formatOf(jsonSchema);
  const schema = field(config, "responseSchema");
  return isObject(schema) ? formatOf(jsonSchemaOf(schema)) : { kind: "json" };
}

/** The list of formats that newer clients send; only that of text has a neutral word. */
function readResponseFormat(config: JsonObject, path: string, beyond: Set<string>): OutputFormat | null {
  let read: OutputFormat | null = null;
  for (const format of objectsIn(field(config, "responseFormat"))) {
    for (const key of fieldsBeyond(format, new Set(["text"]))) beyond.add(`${path}.responseFormat.${key}`);
    if (!isObject(format.text)) continue;
    if (isObject(format.text.schema)) read = formatOf(format.text.schema);
    else if (field(format.text, "mimeType") === "application/json") read = { kind: "json" };
  }
  return read;
}

function formatOf(schema: JsonObject): OutputFormat {
  return { kind: "json_schema", name: "response", description: null, schema, strict: null };
}

const LEVELS: Readonly<Record<string, Effort>> = { MINIMAL: "minimal", LOW: "low", MEDIUM: "medium", HIGH: "high" };

function readReasoning(config: JsonObject, path: string, beyond: Set<string>): ReasoningRequest | null {
  const thinking = field(config, "thinkingConfig");
  if (!isObject(thinking)) return null;
  for (const key of fieldsBeyond(thinking, new Set(["includeThoughts", "thinkingBudget", "thinkingLevel"]))) {
    beyond.add(`${path}.thinkingConfig.${key}`);
  }
  const level = textOrNull(field(thinking, "thinkingLevel"))?.toUpperCase() ?? "";
  const budget = numberOrNull(field(thinking, "thinkingBudget"));
  const includes = field(thinking, "includeThoughts");
  const reasoning: ReasoningRequest = {
    effort: budget === 0 ? "none" : Object.hasOwn(LEVELS, level) ? LEVELS[level]! : null,
    // -1 leaves the amount to the model.
    budgetTokens: budget !== null && budget > 0 ? budget : null,
    visible: typeof includes === "boolean" ? includes : null,
  };
  const saysNothing = reasoning.effort === null && reasoning.budgetTokens === null && reasoning.visible === null;
  return saysNothing ? null : reasoning;
}

function readDetail(config: JsonObject, path: string, beyond: Set<string>): string | null {
  const resolution = field(config, "mediaResolution");
  const detail = detailOf(resolution);
  if (detail === null && resolution !== undefined && resolution !== "MEDIA_RESOLUTION_UNSPECIFIED") {
    beyond.add(`${path}.${spellingOf(config, "mediaResolution")}`);
  }
  return detail;
}
