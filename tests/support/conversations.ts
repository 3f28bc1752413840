import type { ReplyContext } from "../../src/conversation/caller_format.ts";
import type { RequestTarget } from "../../src/conversation/upstream_format.ts";
import { type Conversation, NO_SAMPLING } from "../../src/conversation/conversation.ts";
import { modelFacts } from "../../src/conversation/known_models.ts";
import { NO_QUIRKS, type Quirks } from "../../src/conversation/quirks.ts";
import { COMPATIBLE_MESSAGES_QUIRKS, COMPATIBLE_QUIRKS } from "../../src/upstreams/default_quirks.ts";

/** Quirks of a vendor that resembles the author of each format, as far as it can. */
export const RESEMBLING_QUIRKS: Quirks = new Set([
  ...COMPATIBLE_QUIRKS,
  ...COMPATIBLE_MESSAGES_QUIRKS,
  "openapi_schemas",
  "no_call_ids",
  "no_validated_mode",
  "no_media_in_tool_results",
  "no_signature_placeholder",
]);

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
    unsupportedFields: [],
    ...fields,
  };
}

/** Where a request goes: a model of a form's author, of which the catalog knows nothing more. */
export function targetOf(fields: Partial<RequestTarget> = {}): RequestTarget {
  const model = fields.model ?? "m";
  const facts = modelFacts(model, { id: model, supportedParameters: [] });
  return { model, provider: "vendor", maxOutputTokens: null, facts, quirks: NO_QUIRKS, ...fields };
}

/** The same place with other fields, and the facts of its model. */
export function retarget(target: RequestTarget, fields: Partial<RequestTarget>): RequestTarget {
  const { facts: _, ...rest } = target;
  return targetOf({ ...rest, ...fields });
}

/** What a reply repeats of a request that nothing is known of. */
export function replyContextOf(fields: Partial<ReplyContext> = {}): ReplyContext {
  return { model: "prov/m", requestId: "req_1", createdAt: 7, conversation: null, includeUsage: false, ...fields };
}
