import { readCount, writeCountRequest } from "../../../conversation/codecs/content/upstream/count.ts";
import { content } from "../../../conversation/codecs/content/mod.ts";
import { needsInlining } from "../../../conversation/codecs/content/shared/parts.ts";
import { geminiPath } from "../shared/model_paths.ts";
import type { TextEndpoint } from "../contract/upstream.ts";

/**
 * The content generation endpoint and its token counter. Source: Gemini API reference, "Generating content", "Counting
 * tokens".
 */
export const contentEndpoint: TextEndpoint = {
  format: content.upstream,
  passThrough: content.passThrough,
  path: (model, stream) => geminiPath(model, stream ? "streamGenerateContent?alt=sse" : "generateContent"),
  mustInline: ({ source }) => needsInlining(source),
  counter: {
    path: (model) => geminiPath(model, "countTokens"),
    write: writeCountRequest,
    readCount,
  },
};
