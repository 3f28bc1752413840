import { messages } from "../../../conversation/codecs/messages/mod.ts";
import type { ReplyPart } from "../../../conversation/neutral/reply.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import type { Call } from "../../call.ts";
import { encodeSse } from "../../encoders.ts";
import type { SimulatedEndpoint } from "../../generate.ts";
import { isObject } from "../../../conversation/neutral/wire_value.ts";
import { issueSignature } from "../../signatures.ts";
import { searchBlocks } from "../../web_search.ts";
import type { PlannedReasoning } from "../../reply_plan.ts";

/** `POST /v1/messages`. Source: Messages API reference. */
export const messagesEndpoint: SimulatedEndpoint = {
  vendor: "anthropic",
  format: messages.caller,
  cachedAt: () => "markers",
  startsWithUsage: true,
  newReplyId: ({ vendors }) => `msg_01${vendors.nextId()}`,
  newCallId: ({ vendors }) => `toolu_01${vendors.nextId()}`,
  partsOf({ reasoning, parts, stop, search }, { body, call }) {
    const found = searchBlocks(search, "messages", () => `srvtoolu_01${call.vendors.nextId()}`);
    const shown = stop.reason === "refusal" ? [] : [...found, ...parts]; // only the stop reason reports a refusal
    return { parts: reasoning === null ? shown : [thinkingPart(reasoning, body), ...shown], stop };
  },
  reportsUsage: () => true,
  withoutUsage: ({ usage: _, ...body }) =>
    isObject(body.message) ? { ...body, message: withoutUsage(body.message) } : body,
  defaultMessage,
  failureFrames: () => {
    const error = { type: "overloaded_error", message: defaultMessage(529) };
    return [{ event: "error", data: JSON.stringify({ type: "error", error }) }];
  },
  encoder: encodeSse,
  headersOf,
  streamType: "text/event-stream; charset=utf-8",
};

function withoutUsage({ usage: _, ...message }: JsonObject): JsonObject {
  return message;
}

/**
 * Returns reasoning as the vendor shows it. It is signed for the shown text, which is empty if the reasoning is
 * omitted.
 */
function thinkingPart({ text, redacted }: PlannedReasoning, { thinking }: JsonObject): ReplyPart {
  if (redacted) return { kind: "reasoning", text: "", redacted: true, signature: issueSignature("messages", text) };
  const shown = isObject(thinking) && thinking.display === "omitted" ? "" : text;
  return { kind: "reasoning", text: shown, signature: issueSignature("messages", shown) };
}

const SERVER_ERROR = "Internal server error";

const MESSAGES: Readonly<Record<number, string>> = {
  429: "This request would exceed your account's rate limit. Please try again later.",
  500: SERVER_ERROR,
  503: "Overloaded",
  504: "Request timed out",
  529: "Overloaded",
};

function defaultMessage(status: number): string {
  return MESSAGES[status] ?? (status >= 500 ? SERVER_ERROR : "The request was refused");
}

/** The header fields of every response. */
export function headersOf({ requestId }: Call): Record<string, string> {
  return { "request-id": requestId };
}
