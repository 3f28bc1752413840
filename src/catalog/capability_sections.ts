import * as z from "zod";
import { boolean, distinct, optional, text, wholeNumber } from "../lib/settings.ts";

/** The properties of a model that makes embeddings. */
export interface EmbeddingSection {
  /** The numbers of a vector for a request that sets none; null if unknown, which is the default. */
  readonly dimensions: number | null;
  /** The maximum number of inputs of one request. Default: 2048. */
  readonly maxInputs: number;
}

/** The properties of a model that moderates. */
export interface ModerationSection {
  /** The maximum number of inputs of one request. Default: 100. */
  readonly maxInputs: number;
}

/** The properties of a model that ranks documents. */
export interface RankSection {
  /** The maximum number of documents of one request. Default: 1000. */
  readonly maxDocuments: number;
}

/** The formats of speech. Source: OpenAI API reference, "Create speech", `response_format`. */
export const SPEECH_FORMATS = ["mp3", "opus", "aac", "flac", "wav", "pcm"] as const;

/** The properties of a model that speaks. */
export interface SpeechSection {
  /** The names of its voices. Default: none, for any. */
  readonly voices: readonly string[];
  /** The {@linkcode SPEECH_FORMATS} that the vendor offers. Default: all. */
  readonly formats: readonly string[];
  /** The maximum length of a text in characters. Default: 4096. */
  readonly maxCharacters: number;
}

/** The properties of a model that writes audio down. */
export interface TranscriptSection {
  /** Whether it translates into English, too. Default: false. */
  readonly translates: boolean;
}

/** The sections of a model for the endpoints that answer a request in one piece. Absent if they do not serve it. */
export interface CapabilitySections {
  /** For `POST /v1/embeddings`, `:embedContent` and `:batchEmbedContents`. */
  readonly embedding?: EmbeddingSection;
  /** For `POST /v1/moderations`. */
  readonly moderation?: ModerationSection;
  /** For `POST /v1/rerank`. */
  readonly rerank?: RankSection;
  /** For `POST /v1/audio/speech`. */
  readonly speech?: SpeechSection;
  /** For `POST /v1/audio/transcriptions` and `/v1/audio/translations`. */
  readonly transcription?: TranscriptSection;
}

/** The maximum number of numbers in a vector. */
export const MAX_DIMENSIONS = 65_536;
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

/** The names of all sections. */
export const SECTION_NAMES = ["embedding", "moderation", "rerank", "speech", "transcription"] as const;

/** Sections as they are read: a missing one may be undefined. */
type GivenSections = { readonly [Name in keyof CapabilitySections]?: CapabilitySections[Name] | undefined };

/** Copies the sections that are given. */
export function sectionsOf(given: GivenSections): CapabilitySections {
  return Object.fromEntries(
    SECTION_NAMES.flatMap((name) => given[name] === undefined ? [] : [[name, given[name]]]),
  );
}

/** Writes the sections of a model for the default catalog. */
export function writeSections(
  { embedding, moderation, rerank, speech, transcription }: CapabilitySections,
): Record<string, unknown> {
  return {
    ...embedding && { embedding: { dimensions: embedding.dimensions, max_inputs: embedding.maxInputs } },
    ...moderation && { moderation: { max_inputs: moderation.maxInputs } },
    ...rerank && { rerank: { max_documents: rerank.maxDocuments } },
    ...speech && {
      speech: { voices: speech.voices, formats: speech.formats, max_characters: speech.maxCharacters },
    },
    ...transcription && { transcription },
  };
}
