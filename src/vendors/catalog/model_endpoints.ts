import { CALLER_ENDPOINTS as ENDPOINTS } from "../../platform/endpoints/callers.ts";
import type { Model } from "./model.ts";

/** The path of the main endpoint for each thing that a model can do, in the order in which they are named. */
const PATHS: readonly (readonly [path: string, serves: (model: Model) => boolean])[] = [
  [ENDPOINTS.createChatCompletion.path, ({ text }) => text],
  [ENDPOINTS.createImages.path, ({ image }) => image !== null],
  [ENDPOINTS.createVideo.path, ({ video }) => video !== null],
  [ENDPOINTS.createEmbeddings.path, ({ embedding }) => embedding !== undefined],
  [ENDPOINTS.createModeration.path, ({ moderation }) => moderation !== undefined],
  [ENDPOINTS.rerank.path, ({ rerank }) => rerank !== undefined],
  [ENDPOINTS.createSpeech.path, ({ speech }) => speech !== undefined],
  [ENDPOINTS.createTranscription.path, ({ transcription }) => transcription !== undefined],
];

/** The endpoints that serve a model, for the error of one that does not: `/v1/chat/completions`. */
export function endpointsServing(model: Model): string {
  return PATHS.filter(([, serves]) => serves(model)).map(([path]) => path).join(" and ");
}
