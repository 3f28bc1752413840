import type { ChargeKind } from "../../money/billing/prices/tariff.ts";
import { ownValue } from "../../platform/lib/collections/own_value.ts";

/** What a model is for: a group of endpoints of this gateway, which a section of the model's entry enables. */
export type ModelUse =
  | "text"
  | "embedding"
  | "rerank"
  | "moderation"
  | "speech"
  | "transcription"
  | "image"
  | "video";

/** Each use as it is called in the report. */
export const USE_WORDS: Readonly<Record<ModelUse, string>> = {
  text: "text",
  embedding: "embeddings",
  rerank: "reranking",
  moderation: "moderation",
  speech: "speech",
  transcription: "transcription",
  image: "images",
  video: "videos",
};

/** Source: LiteLLM, `model_prices_and_context_window.json`, `mode`. */
const MODES: Readonly<Record<string, ModelUse>> = {
  chat: "text",
  responses: "text",
  embedding: "embedding",
  rerank: "rerank",
  moderation: "moderation",
  audio_speech: "speech",
  audio_transcription: "transcription",
  image_generation: "image",
  image_edit: "image",
  video_generation: "video",
};

/** The use of a `mode` of LiteLLM; null for one that this gateway does not serve, such as `realtime`. */
export function useOfMode(mode: string): ModelUse | null {
  return ownValue(MODES, mode) ?? null;
}

/** The usual words in names of models, by use. The first match counts. Null: not served. */
const NAMES: readonly (readonly [RegExp, ModelUse | null])[] = [
  [/rerank|ranker/, "rerank"],
  [/embed|(^|[/-])(bge|gte|e5)-|minilm/, "embedding"],
  [/moderation/, "moderation"],
  [/whisper|transcribe|(^|[/-])asr([.-]|$)/, "transcription"],
  [/(^|[/_-])tts([._-]|$)|speech|orpheus/, "speech"],
  [/realtime|(^|[/-])live-|nova-(2-)?sonic|davinci|babbage|gpt-3\.5-turbo-instruct/, null],
  [/sora|veo-|hailuo|seedance|kling|(^|[/-])wan-?\d|-[ti]2v|video|nova-reel|^gen\d/, "video"],
  [
    /dall-e|gpt-image|imagen|-image(-|$)|flux|stable-diffusion|seedream|nano-banana|nova-canvas|(^|\.)stability\./,
    "image",
  ],
];

/** What a model is for, by its name alone; null if it is for something that this gateway does not serve. */
export function useOfName(model: string): ModelUse | null {
  const name = model.toLowerCase();
  const match = NAMES.find(([pattern]) => pattern.test(name));
  return match === undefined ? "text" : match[1];
}

/** The endpoints that charge for a model of a use. Models that answer in text and images are charged for both. */
export function chargeKindsOf(use: ModelUse, answersInText: boolean): readonly ChargeKind[] {
  if (use === "text") return ["text", "cache"];
  return answersInText ? [use, "text"] : [use];
}
