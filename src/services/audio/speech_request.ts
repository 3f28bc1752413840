import { capableModels } from "../../vendors/catalog/capable_models.ts";
import type { CapabilitySections } from "../../vendors/catalog/sections/capability_schemas.ts";
import { SPEECH_FORMATS } from "../../vendors/catalog/sections/capability_sections.ts";
import type { Catalog } from "../../vendors/catalog/catalog.ts";
import type { Model } from "../../vendors/catalog/model.ts";
import { isAbsent, isObject } from "../../conversation/neutral/wire_value.ts";
import { invalidField } from "../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import { readBodyPin } from "../../vendors/routing/pin.ts";
import type { SpeechOrder } from "../../vendors/upstreams/contract/speech_upstream.ts";

/** A model that speaks. */
export type SpeechModel = Model & Required<Pick<CapabilitySections, "speech">>;

/** A request for speech. */
export interface SpeechRequest extends Omit<SpeechOrder, "model"> {
  /** The model, then the fallbacks that are tried if all of its providers fail. */
  readonly models: readonly SpeechModel[];
  /** The model as the caller named it. */
  readonly modelName: string;
  /** The characters of the text. */
  readonly characters: number;
  readonly bodyPin: string | null;
  /** The fields that no vendor is sent. */
  readonly droppedFields: readonly string[];
}

const READ: ReadonlySet<string> = new Set([
  "model",
  "input",
  "voice",
  "response_format",
  "speed",
  "instructions",
  "stream_format",
  "extra_body",
]);
const MAX_VOICE_CHARACTERS = 200;
const MAX_INSTRUCTIONS_CHARACTERS = 10_000;
const [MIN_SPEED, MAX_SPEED] = [0.25, 4];

/**
 * Reads the body of `POST /v1/audio/speech`. Source: docs/api/audio.md#speech.
 *
 * @throws {GatewayError} `invalid_request`, naming the field; `model_not_found`.
 */
export function readSpeechRequest(body: { readonly [key: string]: unknown }, catalog: Catalog): SpeechRequest {
  const modelName = typeof body.model === "string" ? body.model : "";
  const models = capableModels(catalog, modelName, { isCapable: isSpeechModel, does: "speak" });
  const { input } = body;
  if (typeof input !== "string" || input === "") throw invalidField("input", "expected text");
  const characters = charactersOf(input);
  const { speech } = models[0];
  if (characters > speech.maxCharacters) {
    throw invalidField("input", `expected at most ${speech.maxCharacters} characters, got ${characters}`);
  }
  const voice = voiceOf(body.voice, speech);
  const format = formatOf(body.response_format, speech);
  return {
    models: models.filter((model) => isFit(model, { characters, voice, format })),
    modelName,
    input,
    characters,
    voice,
    format,
    asEvents: eventsOf(body.stream_format),
    extras: extrasOf(body),
    bodyPin: readBodyPin(body),
    droppedFields: Object.keys(body).filter((name) => !READ.has(name)),
  };
}

function isSpeechModel(model: Model): model is SpeechModel {
  return model.speech !== undefined;
}

/** Code points, as vendors count. */
function charactersOf(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    // The second half of a pair is part of the first.
    if (unit < 0xdc00 || unit > 0xdfff) count++;
  }
  return Math.max(1, count);
}

function voiceOf(value: unknown, { voices }: SpeechModel["speech"]): string | JsonObject {
  if (isObject(value) && typeof value.id === "string" && value.id.length <= MAX_VOICE_CHARACTERS) {
    return { id: value.id };
  }
  if (typeof value !== "string" || value === "" || value.length > MAX_VOICE_CHARACTERS) {
    throw invalidField("voice", "expected the name of a voice");
  }
  if (voices.length > 0 && !voices.includes(value)) throw invalidField("voice", `expected one of ${voices.join(", ")}`);
  return value;
}

function formatOf(value: unknown, { formats }: SpeechModel["speech"]): string | null {
  if (isAbsent(value)) return null;
  const format = formats.find((each) => each === value);
  if (format === undefined) throw invalidField("response_format", `expected one of ${formats.join(", ")}`);
  return format;
}

function eventsOf(value: unknown): boolean {
  if (isAbsent(value) || value === "audio") return false;
  if (value === "sse") return true;
  throw invalidField("stream_format", "expected audio or sse");
}

function extrasOf({ speed, instructions }: { readonly [key: string]: unknown }): JsonObject {
  if (!isAbsent(speed) && !(typeof speed === "number" && speed >= MIN_SPEED && speed <= MAX_SPEED)) {
    throw invalidField("speed", `expected a number from ${MIN_SPEED} to ${MAX_SPEED}`);
  }
  if (!isAbsent(instructions) && !(typeof instructions === "string" && isShort(instructions))) {
    throw invalidField("instructions", `expected text of at most ${MAX_INSTRUCTIONS_CHARACTERS} characters`);
  }
  return { ...!isAbsent(speed) && { speed }, ...!isAbsent(instructions) && { instructions } };
}

const isShort = (text: string) => text.length <= MAX_INSTRUCTIONS_CHARACTERS;

/** Whether a fallback can serve the same request. */
function isFit(
  { speech: { maxCharacters, voices, formats } }: SpeechModel,
  { characters, voice, format }: Pick<SpeechRequest, "characters" | "voice" | "format">,
): boolean {
  const hasVoice = voices.length === 0 || typeof voice !== "string" || voices.includes(voice);
  const hasFormat = format === null || SPEECH_FORMATS.some((each) => each === format && formats.includes(each));
  return characters <= maxCharacters && hasVoice && hasFormat;
}
