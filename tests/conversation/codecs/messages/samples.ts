import type { ReplyContext } from "../../../../src/conversation/contract/caller_format.ts";
import type { RequestTarget } from "../../../../src/conversation/contract/upstream_format.ts";
import type { JsonObject } from "../../../../src/platform/lib/json/json_object.ts";
import type { Conversation, Part } from "../../../../src/conversation/neutral/conversation.ts";
import type { Reply } from "../../../../src/conversation/neutral/reply.ts";
import { conversationOf, replyContextOf, targetOf } from "../../../support/conversations.ts";

/** A valid body, with fields replaced. */
export function bodyWith(fields: JsonObject = {}): JsonObject {
  return { model: "anthropic/claude", max_tokens: 100, messages: [{ role: "user", content: "Hello" }], ...fields };
}

/** A conversation of one user text, with fields replaced. */
export function conversationWith(fields: Partial<Conversation> = {}): Conversation {
  const turns = [{ role: "user" as const, parts: [textPart("Hello")] }];
  return conversationOf({ model: "anthropic/claude", turns, maxOutputTokens: 100, ...fields });
}

/** An Anthropic model without a version in its name, so that the newest rules apply. */
export function targetWith(fields: Partial<RequestTarget> = {}): RequestTarget {
  return targetOf({ model: "claude", provider: "anthropic", ...fields });
}

/** A reply of these parts with a normal end. */
export function replyWith(parts: Reply["parts"], fields: Partial<Reply> = {}): Reply {
  const stop = { reason: "end" as const, raw: "end_turn" };
  return { id: "msg_1", model: "claude", createdAt: null, parts, stop, usage: null, unsupportedFields: [], ...fields };
}

/** The context of a reply to an unknown request. */
export function contextWith(fields: Partial<ReplyContext> = {}): ReplyContext {
  return replyContextOf({ model: "anthropic/claude", requestId: "req_abc", createdAt: 1, ...fields });
}

/** A text part. */
export function textPart(text: string): Part & { kind: "text" } {
  return { kind: "text", text };
}

/** A call of a function with these arguments. */
export function callPart(callId: string, tool = "look", input = "{}"): Part & { kind: "tool_call" } {
  return { kind: "tool_call", callId, tool, input };
}

/** The result of a call. */
export function resultPart(callId: string, text = "done"): Part & { kind: "tool_result" } {
  return { kind: "tool_result", callId, tool: "look", parts: [{ kind: "text", text }], isError: false };
}

/** A tool with one text argument. */
export const LOOK = {
  kind: "function",
  name: "look",
  description: "Looks",
  parameters: { type: "object", properties: { at: { type: "string" } } },
  strict: null,
} as const;
