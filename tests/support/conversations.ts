import type { ReplyContext } from "../../src/conversation/contract/caller_format.ts";
import type { RequestTarget } from "../../src/conversation/contract/upstream_format.ts";
import { type Conversation, NO_SAMPLING } from "../../src/conversation/neutral/conversation.ts";
import { modelFacts } from "../../src/conversation/models/known_models.ts";
import { NO_QUIRKS, type Quirks } from "../../src/conversation/contract/quirks.ts";
import { COMPATIBLE_MESSAGES_QUIRKS, COMPATIBLE_QUIRKS } from "../../src/vendors/upstreams/settings/default_quirks.ts";

/** Quirks of a vendor that resembles the author of each format. */
export const RESEMBLING_QUIRKS: Quirks = new Set([
  ...COMPATIBLE_QUIRKS,
  ...COMPATIBLE_MESSAGES_QUIRKS,
  "openapi_schemas",
  "no_call_ids",
  "no_validated_mode",
  "no_media_in_tool_results",
  "no_signature_placeholder",
]);

/** A conversation of one user text with the given fields. */
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

/** The target of a request: a model of a format's author without further facts in the catalog. */
export function targetOf(fields: Partial<RequestTarget> = {}): RequestTarget {
  const model = fields.model ?? "m";
  const facts = modelFacts(model, { id: model, supportedParameters: [] });
  return { model, provider: "vendor", maxOutputTokens: null, facts, quirks: NO_QUIRKS, ...fields };
}

/** The same target with other fields, and the facts of its model. */
export function retarget(target: RequestTarget, fields: Partial<RequestTarget>): RequestTarget {
  const { facts: _, ...rest } = target;
  return targetOf({ ...rest, ...fields });
}

/** The reply context of a request with default fields. */
export function replyContextOf(fields: Partial<ReplyContext> = {}): ReplyContext {
  return { model: "prov/m", requestId: "req_1", createdAt: 7, conversation: null, includeUsage: false, ...fields };
}
