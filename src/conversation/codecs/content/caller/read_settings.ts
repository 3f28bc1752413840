import { invalidField } from "../../../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { Effort, OutputFormat, ReasoningRequest, Sampling } from "../../../neutral/conversation.ts";
import { DEFAULT_OUTPUT_NAMES } from "../../../parts/request/output_format_name.ts";
import { isObject, numberOrNull, textOrNull } from "../../../neutral/wire_value.ts";
import { field, objectsIn, spellingOf } from "../shared/fields.ts";
import { detailOf } from "./read_turns.ts";
import { jsonSchemaOf } from "../shared/schema.ts";
import { ownValue } from "../../../../platform/lib/collections/own_value.ts";

/** `generationConfig` in the neutral form. */
export interface Settings {
  readonly maxOutputTokens: number | null;
  readonly sampling: Sampling;
  readonly outputFormat: OutputFormat | null;
  readonly reasoning: ReasoningRequest | null;
  /** The resolution for images; null when not set. */
  readonly detail: string | null;
  /** How many alternatives to report for each token; null for none. */
  readonly logprobs: number | null;
}

/**
 * Reads a checked `generationConfig`.
 *
 * @param path Its name in the caller's spelling.
 * @param unsupportedFields Receives the names of fields that have no neutral form.
 * @throws {GatewayError} `invalid_request` for integers too large to be exact, and for several candidates.
 */
export function readSettings(config: JsonObject, path: string, unsupportedFields: Set<string>): Settings {
  const stop = field(config, "stopSequences");
  rejectSeveralCandidates(config, path);
  reportModalities(config, path, unsupportedFields);
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
    outputFormat: readOutputFormat(config, path, unsupportedFields),
    reasoning: readReasoning(config, path, unsupportedFields),
    detail: readDetail(config, path, unsupportedFields),
    logprobs: readLogprobs(config),
  };
}

/** An integer. JSON numbers beyond 2^53 were already rounded by the parser, so they are rejected. */
function safeInteger(value: unknown, path: string): number | null {
  const number = numberOrNull(value);
  if (number !== null && !Number.isSafeInteger(number)) {
    throw invalidField(path, "expected an integer of at most 2^53 - 1");
  }
  return number;
}

function rejectSeveralCandidates(config: JsonObject, path: string): void {
  const count = numberOrNull(field(config, "candidateCount"));
  if (count !== null && count > 1) {
    const name = `${path}.${spellingOf(config, "candidateCount")}`;
    throw invalidField(name, "more than one candidate is not supported for this model; set it to 1");
  }
}

function reportModalities(config: JsonObject, path: string, unsupportedFields: Set<string>): void {
  const modalities = field(config, "responseModalities");
  const isText = Array.isArray(modalities) && modalities.every((modality) => modality === "TEXT");
  if (modalities !== undefined && !isText) unsupportedFields.add(`${path}.${spellingOf(config, "responseModalities")}`);
}

function readOutputFormat(config: JsonObject, path: string, unsupportedFields: Set<string>): OutputFormat | null {
  const newer = readResponseFormat(config, path, unsupportedFields);
  const type = textOrNull(field(config, "responseMimeType"));
  const schemas = SCHEMAS.filter((name) => field(config, name) !== undefined);
  const isJson = type === "application/json" || (type === null && schemas.length > 0);
  if (type !== null && !isJson && type !== "text/plain") {
    unsupportedFields.add(`${path}.${spellingOf(config, "responseMimeType")}`);
  }
  // The first schema that is an object is read. A schema implies JSON, even without the media type.
  const read = newer === null && isJson ? schemas.find((name) => isObject(field(config, name))) : undefined;
  for (const name of schemas) if (name !== read) unsupportedFields.add(`${path}.${spellingOf(config, name)}`);
  if (newer !== null || !isJson) return newer;
  if (read === undefined) return { kind: "json" };
  const schema = field(config, read) as JsonObject;
  return formatOf(read === "responseSchema" ? jsonSchemaOf(schema) : schema);
}

const SCHEMAS = ["responseJsonSchema", "responseSchema"] as const;

/** Probabilities can be requested with or without a number of alternatives. */
function readLogprobs(config: JsonObject): number | null {
  const count = numberOrNull(config.logprobs) ?? 0;
  return field(config, "responseLogprobs") === true || count > 0 ? count : null;
}

/** The list of formats that newer clients send; only the text format has a neutral form. */
function readResponseFormat(config: JsonObject, path: string, unsupportedFields: Set<string>): OutputFormat | null {
  let read: OutputFormat | null = null;
  for (const { text } of objectsIn(field(config, "responseFormat"))) {
    if (!isObject(text)) continue;
    const type = textOrNull(field(text, "mimeType"));
    if (isObject(text.schema)) read = formatOf(text.schema);
    else if (type === "application/json" || type === "APPLICATION_JSON") read = { kind: "json" };
    else if (type !== null && type !== "text/plain" && type !== "TEXT_PLAIN") {
      unsupportedFields.add(`${path}.${spellingOf(config, "responseFormat")}.text.${spellingOf(text, "mimeType")}`);
    }
  }
  return read;
}

function formatOf(schema: JsonObject): OutputFormat {
  return { kind: "json_schema", name: DEFAULT_OUTPUT_NAMES.content, description: null, schema, strict: null };
}

const LEVELS: Readonly<Record<string, Effort>> = { MINIMAL: "minimal", LOW: "low", MEDIUM: "medium", HIGH: "high" };

function readReasoning(config: JsonObject, path: string, unsupportedFields: Set<string>): ReasoningRequest | null {
  const thinking = field(config, "thinkingConfig");
  if (!isObject(thinking)) return null;
  const level = textOrNull(field(thinking, "thinkingLevel"))?.toUpperCase() ?? "";
  if (level !== "" && !Object.hasOwn(LEVELS, level) && level !== "THINKING_LEVEL_UNSPECIFIED") {
    const at = `${path}.${spellingOf(config, "thinkingConfig")}`;
    unsupportedFields.add(`${at}.${spellingOf(thinking, "thinkingLevel")}`);
  }
  const budget = numberOrNull(field(thinking, "thinkingBudget"));
  const includes = field(thinking, "includeThoughts");
  const reasoning: ReasoningRequest = {
    effort: budget === 0 ? "none" : ownValue(LEVELS, level) ?? null,
    // -1 leaves the amount to the model.
    budgetTokens: budget !== null && budget > 0 ? budget : null,
    visible: typeof includes === "boolean" ? includes : null,
  };
  // A budget of -1 requests reasoning without an amount.
  const isEmpty = reasoning.effort === null && reasoning.visible === null && budget === null;
  return isEmpty ? null : reasoning;
}

function readDetail(config: JsonObject, path: string, unsupportedFields: Set<string>): string | null {
  const resolution = field(config, "mediaResolution");
  const detail = detailOf(resolution);
  if (detail === null && resolution !== undefined && resolution !== "MEDIA_RESOLUTION_UNSPECIFIED") {
    unsupportedFields.add(`${path}.${spellingOf(config, "mediaResolution")}`);
  }
  return detail;
}
