import * as z from "zod";
import { optional, wholeNumber } from "../lib/settings.ts";

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

/** The sections of a model for the endpoints that answer a request in one piece. Absent if they do not serve it. */
export interface CapabilitySections {
  /** For `POST /v1/embeddings`, `:embedContent` and `:batchEmbedContents`. */
  readonly embedding?: EmbeddingSection;
  /** For `POST /v1/moderations`. */
  readonly moderation?: ModerationSection;
  /** For `POST /v1/rerank`. */
  readonly rerank?: RankSection;
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

/** The schemas of all sections, by the name of the section. */
export function capabilitySections() {
  return {
    embedding: embeddingSection().optional(),
    moderation: moderationSection().optional(),
    rerank: rankSection().optional(),
  };
}

/** Copies the sections that are given. */
export function sectionsOf(
  { embedding, moderation, rerank }: {
    readonly [Name in keyof CapabilitySections]?: CapabilitySections[Name] | undefined;
  },
): CapabilitySections {
  return { ...embedding && { embedding }, ...moderation && { moderation }, ...rerank && { rerank } };
}

/** Writes the sections of a model for the default catalog. */
export function writeSections({ embedding, moderation, rerank }: CapabilitySections): Record<string, unknown> {
  return {
    ...embedding && { embedding: { dimensions: embedding.dimensions, max_inputs: embedding.maxInputs } },
    ...moderation && { moderation: { max_inputs: moderation.maxInputs } },
    ...rerank && { rerank: { max_documents: rerank.maxDocuments } },
  };
}
