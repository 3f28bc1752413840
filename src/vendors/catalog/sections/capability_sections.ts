/** The formats of speech. Source: OpenAI API reference, "Create speech", `response_format`. */
export const SPEECH_FORMATS = ["mp3", "opus", "aac", "flac", "wav", "pcm"] as const;

/** The maximum number of numbers in a vector. */
export const MAX_DIMENSIONS = 65_536;

/** The names of all sections. */
export const SECTION_NAMES = ["embedding", "moderation", "rerank", "speech", "transcription"] as const;
