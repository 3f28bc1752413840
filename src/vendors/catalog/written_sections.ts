import type { CapabilitySections } from "./sections/capability_schemas.ts";

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
