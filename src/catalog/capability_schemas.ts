import * as z from "zod";
import { boolean, distinct, optional, text, wholeNumber } from "../lib/settings.ts";
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

/** The schema of a model's `embedding` section. */
function embeddingSection(): z.ZodType<EmbeddingSection> {
  return z.strictObject({
    dimensions: optional(wholeNumber(1, MAX_DIMENSIONS, "numbers")),
    max_inputs: wholeNumber(1, MAX_INPUTS, "inputs").default(DEFAULT_INPUTS),
  }).transform(({ dimensions, max_inputs }) => ({ dimensions, maxInputs: max_inputs }));
}

/** The schema of a model's `moderation` section. */
function moderationSection(): z.ZodType<ModerationSection> {
  return z.strictObject({ max_inputs: wholeNumber(1, MAX_INPUTS, "inputs").default(100) })
    .transform(({ max_inputs }) => ({ maxInputs: max_inputs }));
}

/** The schema of a model's `rerank` section. */
function rankSection(): z.ZodType<RankSection> {
  return z.strictObject({ max_documents: wholeNumber(1, MAX_INPUTS, "documents").default(1_000) })
    .transform(({ max_documents }) => ({ maxDocuments: max_documents }));
}

/** The schema of a model's `speech` section. */
function speechSection(): z.ZodType<SpeechSection> {
  return z.strictObject({
    voices: distinct(text(1, 200), 0).default([]),
    formats: distinct(z.enum(SPEECH_FORMATS), 1).default([...SPEECH_FORMATS]),
    max_characters: wholeNumber(1, 1_000_000, "characters").default(4_096),
  }).transform(({ voices, formats, max_characters }) => ({ voices, formats, maxCharacters: max_characters }));
}

/** The schema of a model's `transcription` section. */
function transcriptSection(): z.ZodType<TranscriptSection> {
  return z.strictObject({ translates: boolean().default(false) });
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
