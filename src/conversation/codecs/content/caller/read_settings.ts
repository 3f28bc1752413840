import { invalidField } from "../../../../lib/gateway_error.ts";
import type { JsonObject } from "../../../../lib/json_object.ts";
import type { Effort, OutputFormat, ReasoningRequest, Sampling } from "../../../conversation.ts";
import { UNNAMED_FORMATS } from "../../../format_name.ts";
import { isObject, numberOrNull, textOrNull } from "../../../wire_value.ts";
import { field, objectsIn, spellingOf } from "../shared/fields.ts";
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
  /** How many of the likeliest tokens are wanted with their probabilities; null for none. */
  readonly logprobs: number | null;
}

/**
 * Reads a checked `generationConfig`.
 *
 * @param path How the caller spelled it.
 * @param beyond Receives the names of what could not be read.
 * @throws {GatewayError} `invalid_request` for whole numbers too large to be kept, and for several candidates.
 */
export function readSettings(config: JsonObject, path: string, beyond: Set<string>): Settings {
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
    logprobs: readLogprobs(config),
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
  const type = textOrNull(field(config, "responseMimeType"));
  const schemas = SCHEMAS.filter((name) => field(config, name) !== undefined);
  const isJson = type === "application/json" || (type === null && schemas.length > 0);
  if (type !== null && !isJson && type !== "text/plain") {
    beyond.add(`${path}.${spellingOf(config, "responseMimeType")}`);
  }
  // The first that is an object is read. A schema asks for JSON, also where the media type is left out.
  const read = newer === null && isJson ? schemas.find((name) => isObject(field(config, name))) : undefined;
  for (const name of schemas) if (name !== read) beyond.add(`${path}.${spellingOf(config, name)}`);
  if (newer !== null || !isJson) return newer;
  if (read === undefined) return { kind: "json" };
  const schema = field(config, read) as JsonObject;
  return formatOf(read === "responseSchema" ? jsonSchemaOf(schema) : schema);
}

const SCHEMAS = ["responseJsonSchema", "responseSchema"] as const;

/** Asked for with or without a number of alternatives. */
function readLogprobs(config: JsonObject): number | null {
  const count = numberOrNull(config.logprobs) ?? 0;
  return field(config, "responseLogprobs") === true || count > 0 ? count : null;
}

/** The list of formats that newer clients send; only that of text has a neutral word. */
function readResponseFormat(config: JsonObject, path: string, beyond: Set<string>): OutputFormat | null {
  let read: OutputFormat | null = null;
  for (const { text } of objectsIn(field(config, "responseFormat"))) {
    if (!isObject(text)) continue;
    const type = textOrNull(field(text, "mimeType"));
    if (isObject(text.schema)) read = formatOf(text.schema);
    else if (type === "application/json" || type === "APPLICATION_JSON") read = { kind: "json" };
    else if (type !== null && type !== "text/plain" && type !== "TEXT_PLAIN") {
      beyond.add(`${path}.${spellingOf(config, "responseFormat")}.text.${spellingOf(text, "mimeType")}`);
    }
  }
  return read;
}

function formatOf(schema: JsonObject): OutputFormat {
  return { kind: "json_schema", name: UNNAMED_FORMATS.content, description: null, schema, strict: null };
}

const LEVELS: Readonly<Record<string, Effort>> = { MINIMAL: "minimal", LOW: "low", MEDIUM: "medium", HIGH: "high" };

function readReasoning(config: JsonObject, path: string, beyond: Set<string>): ReasoningRequest | null {
  const thinking = field(config, "thinkingConfig");
  if (!isObject(thinking)) return null;
  const level = textOrNull(field(thinking, "thinkingLevel"))?.toUpperCase() ?? "";
  if (level !== "" && !Object.hasOwn(LEVELS, level) && level !== "THINKING_LEVEL_UNSPECIFIED") {
    const at = `${path}.${spellingOf(config, "thinkingConfig")}`;
    beyond.add(`${at}.${spellingOf(thinking, "thinkingLevel")}`);
  }
  const budget = numberOrNull(field(thinking, "thinkingBudget"));
  const includes = field(thinking, "includeThoughts");
  const reasoning: ReasoningRequest = {
    effort: budget === 0 ? "none" : Object.hasOwn(LEVELS, level) ? LEVELS[level]! : null,
    // -1 leaves the amount to the model.
    budgetTokens: budget !== null && budget > 0 ? budget : null,
    visible: typeof includes === "boolean" ? includes : null,
  };
  // A budget of -1 asks for thinking without saying how much.
  const saysNothing = reasoning.effort === null && reasoning.visible === null && budget === null;
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
