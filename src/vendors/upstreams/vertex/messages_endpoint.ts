import { messages, passThroughTo, readCount, writeCountRequest } from "../../../conversation/codecs/messages/mod.ts";
import type { UpstreamFormat } from "../../../conversation/contract/upstream_format.ts";
import type { TextEndpoint } from "../contract/upstream.ts";
import { pathNameOf, publisherOf } from "./publisher.ts";

const VERSION = { anthropic_version: "vertex-2023-10-16" };

const format: UpstreamFormat = {
  ...messages.upstream,
  writeRequest(conversation, target) {
    const written = messages.upstream.writeRequest(conversation, target);
    const { model: _inPath, ...body } = written.body;
    return { ...written, body: { ...VERSION, ...body } };
  },
};

const passThrough = passThroughTo(() => ({ set: VERSION, remove: ["model"] }));

/**
 * Anthropic's models at Vertex AI: the Messages API, with the model in the path and the version in the body. Source:
 * Claude on Vertex AI, "Making requests", and Anthropic's Vertex SDK.
 *
 * @param resource The version of the API and the location of the project.
 */
export function messagesEndpoint(resource: string): TextEndpoint {
  const models = `${resource}/publishers/anthropic/models`;
  return {
    format,
    passThrough,
    serves: (model) => publisherOf(model) === "anthropic",
    path: (model, stream) => `${models}/${pathNameOf(model)}:${stream ? "streamRawPredict" : "rawPredict"}`,
    // Sources by address are not supported there.
    mustInline: ({ source }) => source.kind === "url",
    counter: {
      path: () => `${models}/count-tokens:rawPredict`,
      write(conversation, target) {
        const { body, droppedFields } = writeCountRequest(conversation, { ...target, model: bareName(target.model) });
        return { body: { ...VERSION, ...body }, droppedFields };
      },
      readCount,
    },
  };
}

/** The body of a count names the model as Anthropic does. */
function bareName(model: string): string {
  return model.slice(model.lastIndexOf("/") + 1);
}
