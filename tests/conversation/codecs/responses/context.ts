import type { ReplyContext, RequestTarget } from "../../../../src/conversation/codec.ts";

/** A reply to a request that was not read. */
export const CONTEXT: ReplyContext = {
  model: "openai/gpt-5",
  requestId: "req_0123456789abcdef01234567",
  createdAt: 1_700_000_000,
  conversation: null,
  includeUsage: true,
};

/** The form's author as the vendor. */
export const TARGET: RequestTarget = {
  model: "gpt-5",
  provider: "openai",
  maxOutputTokens: 128_000,
  compatible: false,
};
