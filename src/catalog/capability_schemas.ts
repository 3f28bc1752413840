import * as z from "zod";
import { section, setting } from "../lib/setting.ts";
import { boolean, distinct, text, wholeNumber } from "../lib/settings.ts";
import {
  type EmbeddingSection,
  MAX_DIMENSIONS,
  type ModerationSection,
  type RankSection,
  SPEECH_FORMATS,
  type SpeechSection,
  type TranscriptSection,
} from "./capability_sections.ts";

/** Source: OpenAI API reference, "Create embeddings", `input`. */
const DEFAULT_INPUTS = 2_048;
const MAX_INPUTS = 10_000;

/** A model's `embedding` section. */
function embeddingSection(): z.ZodType<EmbeddingSection> {
  return section({
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
  });
}

/** A model's `moderation` section. */
function moderationSection(): z.ZodType<ModerationSection> {
  return section({
    max_inputs: setting(wholeNumber(1, MAX_INPUTS, "inputs"), {
      default: 100,
      text: "The most inputs of a request",
      example: 32,
    }),
  });
}

/** A model's `rerank` section. */
function rankSection(): z.ZodType<RankSection> {
  return section({
    max_documents: setting(wholeNumber(1, MAX_INPUTS, "documents"), {
      default: 1_000,
      text: "The most documents of a request",
      example: 500,
    }),
  });
}

/** A model's `speech` section. */
function speechSection(): z.ZodType<SpeechSection> {
  return section({
    voices: setting(distinct(text(1, 200), 0), {
      default: [],
      text: "The voices that callers may request; empty allows any",
      example: ["alloy", "nova"],
    }),
    formats: setting(distinct(z.enum(SPEECH_FORMATS), 1), {
      default: [...SPEECH_FORMATS],
      text: "The formats that callers may request",
      example: ["mp3", "wav"],
    }),
    max_characters: setting(wholeNumber(1, 1_000_000, "characters"), {
      default: 4_096,
      text: "The longest text",
      example: 2000,
    }),
  });
}

/** A model's `transcription` section. */
function transcriptSection(): z.ZodType<TranscriptSection> {
  return section({
    translates: setting(boolean(), { default: false, text: "Whether `/v1/audio/translations` serves it" }),
  });
}

/** The schemas of all sections, by the name of the section. */
export function capabilitySections() {
  return {
    embedding: embeddingSection().optional(),
    moderation: moderationSection().optional(),
    rerank: rankSection().optional(),
    speech: speechSection().optional(),
    transcription: transcriptSection().optional(),
  };
}
