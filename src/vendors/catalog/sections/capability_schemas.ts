import * as z from "zod";
import { type Read, section, setting } from "../../../platform/lib/settings/setting.ts";
import { boolean, distinct, text, wholeNumber } from "../../../platform/lib/settings/settings.ts";
import { MAX_DIMENSIONS, SPEECH_FORMATS } from "./capability_sections.ts";

/** Source: OpenAI API reference, "Create embeddings", `input`. */
const DEFAULT_INPUTS = 2_048;
const MAX_INPUTS = 10_000;

/** The sections of a model for the endpoints that answer a request in one piece, by their names. */
export function capabilitySections() {
  return {
    embedding: section({
      dimensions: setting(wholeNumber(1, MAX_DIMENSIONS, "numbers"), {
        default: null,
        text: "The length of a vector",
        example: 1536,
        otherwise: "unknown",
      }),
      max_inputs: setting(wholeNumber(1, MAX_INPUTS, "inputs"), {
        default: DEFAULT_INPUTS,
        text: "The most inputs of a request",
        example: 100,
      }),
    }).optional(),
    moderation: section({
      max_inputs: setting(wholeNumber(1, MAX_INPUTS, "inputs"), {
        default: 100,
        text: "The most inputs of a request",
        example: 32,
      }),
    }).optional(),
    rerank: section({
      max_documents: setting(wholeNumber(1, MAX_INPUTS, "documents"), {
        default: 1_000,
        text: "The most documents of a request",
        example: 500,
      }),
    }).optional(),
    speech: section({
      voices: setting(distinct(text(1, 200), 0), {
        default: [],
        text: "The voices that callers may request; empty allows any",
        example: ["alloy", "nova"],
      }),
      formats: setting(distinct<string>(z.enum(SPEECH_FORMATS), 1), {
        default: [...SPEECH_FORMATS],
        text: "The formats that callers may request",
        example: ["mp3", "wav"],
      }),
      max_characters: setting(wholeNumber(1, 1_000_000, "characters"), {
        default: 4_096,
        text: "The longest text",
        example: 2000,
      }),
    }).optional(),
    transcription: section({
      translates: setting(boolean(), { default: false, text: "Whether `/v1/audio/translations` serves it" }),
    }).optional(),
  };
}

/** The sections as they were read. Absent if no endpoint of the section serves the model. */
export type CapabilitySections = Read<ReturnType<typeof capabilitySections>>;
