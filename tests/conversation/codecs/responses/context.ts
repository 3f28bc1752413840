import type { ReplyContext } from "../../../../src/conversation/contract/caller_format.ts";
import type { RequestTarget } from "../../../../src/conversation/contract/upstream_format.ts";
import { replyContextOf, targetOf } from "../../../support/conversations.ts";

/** A reply to a request that was not parsed. */
export const CONTEXT: ReplyContext = replyContextOf({
  model: "openai/gpt-5",
  requestId: "req_0123456789abcdef01234567",
  createdAt: 1_700_000_000,
  includeUsage: true,
});

/** OpenAI as the vendor. */
export const TARGET: RequestTarget = targetOf({ model: "gpt-5", provider: "openai", maxOutputTokens: 128_000 });
