import { readCount } from "../../../conversation/codecs/content/upstream/count.ts";
import { content } from "../../../conversation/codecs/content/mod.ts";
import { needsInlining } from "../../../conversation/codecs/content/shared/parts.ts";
import type { PassThrough } from "../../../conversation/contract/pass_through.ts";
import type { TextEndpoint } from "../contract/upstream.ts";
import { withVertexContents } from "./contents.ts";
import { googlePaths, publisherOf } from "./publisher.ts";

const passThrough: PassThrough = {
  ...content.passThrough,
  prepare: (request) => content.passThrough.prepare(withVertexContents(request)),
};

/** The fields of a request that its count accepts. */
const COUNTED = ["contents", "systemInstruction", "tools", "generationConfig"];

/**
 * Google's models at Vertex AI. Source: Vertex AI REST reference, "publishers.models.generateContent" and
 * "publishers.models.countTokens".
 *
 * @param resource The version of the API and the location of the project.
 */
export function contentEndpoint(resource: string): TextEndpoint {
  const pathOf = googlePaths(resource);
  return {
    format: content.upstream,
    passThrough,
    serves: (model) => publisherOf(model) === "google",
    path: (model, stream) => pathOf(model, stream ? "streamGenerateContent?alt=sse" : "generateContent"),
    mustInline: ({ source }) => needsInlining(source),
    counter: {
      path: (model) => pathOf(model, "countTokens"),
      write(conversation, target) {
        const { body, droppedFields } = content.upstream.writeRequest(conversation, target);
        return {
          body: Object.fromEntries(Object.entries(body).filter(([field]) => COUNTED.includes(field))),
          droppedFields,
        };
      },
      readCount,
    },
  };
}
