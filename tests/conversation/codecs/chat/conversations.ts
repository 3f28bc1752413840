import { NO_SAMPLING } from "../../../../src/conversation/conversation.ts";
import type { Conversation } from "../../../../src/conversation/conversation.ts";
import type { ReplyContext, RequestTarget } from "../../../../src/conversation/codec.ts";

/** JSON as a wire has it, looked at freely, so that a test shares no reading with the code under test. */
// deno-lint-ignore no-explicit-any -- its shape is what a test asserts
export type Loose = any;

/** A conversation that asks for nothing but what is given. */
export function conversationOf(fields: Partial<Conversation>): Conversation {
  return {
    model: "prov/m",
    instructions: [],
    turns: [{ role: "user", parts: [{ kind: "text", text: "Hi" }] }],
    tools: [],
    toolChoice: null,
    parallelToolCalls: null,
    outputFormat: null,
    maxOutputTokens: null,
    sampling: NO_SAMPLING,
    reasoning: null,
    stream: false,
    user: null,
    cacheKey: null,
    verbosity: null,
    beyond: [],
    ...fields,
  };
}

/** The form's author. */
export const AUTHOR: RequestTarget = {
  model: "gpt-4.1",
  provider: "author",
  maxOutputTokens: 32_000,
  compatible: false,
};
/** A vendor that resembles it. */
export const VENDOR: RequestTarget = { ...AUTHOR, model: "some-model", provider: "vendor", compatible: true };

/** A caller who asked for no usage in its stream. */
export const CONTEXT: ReplyContext = {
  model: "prov/m",
  requestId: "req_1",
  createdAt: 7,
  conversation: null,
  includeUsage: false,
};
