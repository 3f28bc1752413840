import { readCount, writeCountRequest } from "../../../conversation/codecs/messages/upstream/count.ts";
import { messages } from "../../../conversation/codecs/messages/mod.ts";
import { ERROR_TEXTS } from "../call/error_texts.ts";
import type { VendorRefusal } from "../call/outbound_call.ts";
import type { TextEndpoint } from "../contract/upstream.ts";

/** Reads an error body. The caller cannot change the balance of the account, but another provider may have one. */
export function readAnthropicError(body: unknown): VendorRefusal {
  const error = messages.upstream.readError(body);
  return ERROR_TEXTS.anthropicBalanceExhausted.test(error.message) ? { ...error, kind: "unavailable" } : error;
}

/** The Messages endpoint and its token counter. Source: Messages API reference, "Messages", "Count message tokens". */
export const messagesEndpoint: TextEndpoint = {
  format: messages.upstream,
  passThrough: messages.passThrough,
  path: () => "/v1/messages",
  // The vendor fetches by https alone: "Only HTTPS URLs are supported."
  mustInline: ({ source }) => source.kind === "url" && /^http:/i.test(source.url),
  readError: readAnthropicError,
  versionField: "anthropic-version",
  counter: {
    path: () => "/v1/messages/count_tokens",
    write: writeCountRequest,
    readCount,
  },
};
