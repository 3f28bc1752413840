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

/** The names of all sections. */
export const SECTION_NAMES = ["embedding", "moderation", "rerank", "speech", "transcription"] as const;

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
