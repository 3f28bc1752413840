import { readCount, writeCountRequest } from "../../../conversation/codecs/messages/upstream/count.ts";
import { messages } from "../../../conversation/codecs/messages/mod.ts";
import type { TextEndpoint } from "../contract/upstream.ts";

/** The Messages endpoint and its token counter. Source: Messages API reference, "Messages", "Count message tokens". */
export const messagesEndpoint: TextEndpoint = {
  format: messages.upstream,
  passThrough: messages.passThrough,
  path: () => "/v1/messages",
  // The vendor fetches by https alone: "Only HTTPS URLs are supported."
  mustInline: ({ source }) => source.kind === "url" && /^http:/i.test(source.url),
  versionField: "anthropic-version",
  counter: {
    path: () => "/v1/messages/count_tokens",
    write: writeCountRequest,
    readCount,
  },
};
