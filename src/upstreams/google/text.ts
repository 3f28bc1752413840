import { readCount, writeCountRequest } from "../../conversation/codecs/content/upstream/count.ts";
import { content } from "../../conversation/codecs/content/mod.ts";
import { needsInlining } from "../../conversation/codecs/content/shared/parts.ts";
import type { TextEndpoint } from "../upstream.ts";

/**
 * The content generation endpoint and its token counter. Source: Gemini API reference, "Generating content", "Counting
 * tokens".
 */
export const contentEndpoint: TextEndpoint = {
  format: content.upstream,
  passThrough: content.passThrough,
  path: (model, stream) =>
    `/v1beta/models/${encodeURI(model)}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
  mustInline: ({ source }) => needsInlining(source),
  counter: {
    path: (model) => `/v1beta/models/${encodeURI(model)}:countTokens`,
    write: writeCountRequest,
    readCount,
  },
};
