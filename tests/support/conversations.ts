import type { ReplyContext } from "../../src/conversation/caller_format.ts";
import type { RequestTarget } from "../../src/conversation/upstream_format.ts";
import { type Conversation, NO_SAMPLING } from "../../src/conversation/conversation.ts";

/** A conversation of one user text that asks for nothing but what is given. */
export function conversationOf(fields: Partial<Conversation> = {}): Conversation {
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

/** Where a request goes: a model of a form's author, of which the catalog knows nothing more. */
export function targetOf(fields: Partial<RequestTarget> = {}): RequestTarget {
  return { model: "m", provider: "vendor", maxOutputTokens: null, compatible: false, ...fields };
}

/** What a reply repeats of a request that nothing is known of. */
export function replyContextOf(fields: Partial<ReplyContext> = {}): ReplyContext {
  return { model: "prov/m", requestId: "req_1", createdAt: 7, conversation: null, includeUsage: false, ...fields };
}
