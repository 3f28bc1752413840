import type { Model } from "./model.ts";

/** The path of the main endpoint for each thing that a model can do, in the order in which they are named. */
const PATHS: readonly (readonly [path: string, serves: (model: Model) => boolean])[] = [
  ["/v1/chat/completions", ({ text }) => text],
  ["/v1/images/generations", ({ image }) => image !== null],
  ["/v1/videos", ({ video }) => video !== null],
  ["/v1/embeddings", ({ embedding }) => embedding !== undefined],
  ["/v1/moderations", ({ moderation }) => moderation !== undefined],
  ["/v1/rerank", ({ rerank }) => rerank !== undefined],
  ["/v1/audio/speech", ({ speech }) => speech !== undefined],
  ["/v1/audio/transcriptions", ({ transcription }) => transcription !== undefined],
];

/** The endpoints that serve a model, for the error of one that does not: `/v1/chat/completions`. */
export function endpointsServing(model: Model): string {
  return PATHS.filter(([, serves]) => serves(model)).map(([path]) => path).join(" and ");
}
