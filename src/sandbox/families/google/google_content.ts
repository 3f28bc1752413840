import { content } from "../../../conversation/codecs/content/mod.ts";
import type { ReplyPart, Stop } from "../../../conversation/neutral/reply.ts";
import { encodeCrlfSse, encodeList } from "../../encoders.ts";
import type { GenerationRequest, SimulatedEndpoint } from "../../generate.ts";
import { issueSignature } from "../../signatures.ts";
import { searchTextParts } from "../../web_search.ts";
import type { ReplyPlan } from "../../reply_plan.ts";
import { hopOf, withToken } from "./google_hops.ts";
import { errorBody } from "./google_error.ts";

/** `generateContent` and `streamGenerateContent`. Source: Gemini API reference, "Generating content". */
export const contentEndpoint: SimulatedEndpoint = {
  vendor: "google",
  format: content.caller,
  cachedAt: () => "any_length",
  startsWithUsage: false,
  newReplyId: ({ vendors }) => vendors.nextId().slice(0, 22),
  newCallId: ({ vendors }) => vendors.nextId().slice(0, 8),
  partsOf: partsOf,
  hopOf,
  withToken,
  reportsUsage: () => true,
  withoutUsage: (body) => body,
  defaultMessage,
  failureFrames: () => [{ event: null, data: JSON.stringify(errorBody(503, defaultMessage(503), {})) }],
  encoder: ({ call }) => call.query.get("alt") === "sse" ? encodeCrlfSse() : encodeList(),
  headersOf: () => ({}),
  streamType: "text/event-stream",
};

/**
 * Reasoning is shown if requested, and has no signature of its own. The first call always has one; without a call, the
 * text after the reasoning has it.
 */
function partsOf(
  { reasoning, parts: spoken, stop, search }: ReplyPlan,
  { conversation, call }: GenerationRequest,
): { parts: ReplyPart[]; stop: Stop } {
  if (stop.reason === "refusal") {
    return { parts: [], stop: { ...stop, reason: "prompt_blocked", raw: "PROHIBITED_CONTENT" } };
  }
  const parts = [...searchTextParts(search, "content"), ...spoken];
  const requested = conversation.reasoning;
  const isShown = reasoning !== null && !reasoning.redacted && (requested === null || requested.visible === true);
  const owner = parts.find(({ kind }) => kind === "tool_call") ??
    (reasoning === null ? undefined : parts.find(({ kind }) => kind !== "web_search"));
  const signature = issueSignature("content", call.requestId);
  return {
    parts: [
      ...(isShown ? [{ kind: "reasoning" as const, text: reasoning.text }] : []),
      ...parts.map((part) => part === owner ? { ...part, signature } as ReplyPart : part),
    ],
    stop,
  };
}

const SERVER_ERROR = "An internal error has occurred. Please retry.";

const MESSAGES: Readonly<Record<number, string>> = {
  429: "You exceeded your current quota, please check your plan and billing details.",
  500: SERVER_ERROR,
  503: "The model is overloaded. Please try again later.",
  504: "The request timed out. Please try again.",
};

function defaultMessage(status: number): string {
  return MESSAGES[status] ?? (status >= 500 ? SERVER_ERROR : "The request was refused.");
}
