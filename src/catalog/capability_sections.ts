import * as z from "zod";
import { optional, wholeNumber } from "../lib/settings.ts";

/** The properties of a model that makes embeddings. */
export interface EmbeddingSection {
  /** The numbers of a vector for a request that sets none; null if unknown, which is the default. */
  readonly dimensions: number | null;
  /** The maximum number of inputs of one request. Default: 2048. */
  readonly maxInputs: number;
}

/** The sections of a model for the endpoints that answer a request in one piece. Absent if they do not serve it. */
export interface CapabilitySections {
  /** For `POST /v1/embeddings`, `:embedContent` and `:batchEmbedContents`. */
  readonly embedding?: EmbeddingSection;
}

/** The maximum number of numbers in a vector. */
export const MAX_DIMENSIONS = 65_536;
/** Source: OpenAI API reference, "Create embeddings", `input`. */
const DEFAULT_INPUTS = 2_048;
const MAX_INPUTS = 10_000;

/** The schema of a model's `embedding` section. */
export function embeddingSection(): z.ZodType<EmbeddingSection> {
  return z.strictObject({
    dimensions: optional(wholeNumber(1, MAX_DIMENSIONS, "numbers")),
    max_inputs: wholeNumber(1, MAX_INPUTS, "inputs").default(DEFAULT_INPUTS),
  }).transform(({ dimensions, max_inputs }) => ({ dimensions, maxInputs: max_inputs }));
}
