import type { ImagePart, Part, ReasoningPart, RefusalPart, TextPart, ToolCallPart } from "./conversation.ts";
import type { Usage } from "./usage.ts";
import type { WebSearchPart } from "./web_search.ts";

/** The kinds of parts in a reply. */
export type ReplyPart = TextPart | ImagePart | ReasoningPart | RefusalPart | ToolCallPart | WebSearchPart;

/** A model's whole reply in the neutral form. */
export interface Reply {
  /** The vendor's id of the reply, or one that the gateway made. */
  readonly id: string;
  /** The vendor's name of the model. */
  readonly model: string;
  /** Unix seconds; null where the format does not report it. */
  readonly createdAt: number | null;
  /** The content, in the model's order. */
  readonly parts: readonly ReplyPart[];
  /** Why the model stopped. */
  readonly stop: Stop;
  /** Null when the vendor reported none. */
  readonly usage: Usage | null;
  /** Dotted names, in the vendor's spelling, of parts of the reply that have no neutral form. */
  readonly unsupportedFields: readonly string[];
}

/** Why a model stopped: the neutral reason. */
export type StopReason =
  | "end"
  | "stop_sequence"
  | "max_tokens"
  | "context_full"
  | "tool_calls"
  | "refusal"
  | "content_filter"
  | "prompt_blocked"
  | "bad_tool_call"
  | "paused";

/** Why a model stopped: the neutral reason and the vendor's. */
export interface Stop {
  /** The neutral reason, which every format can express. */
  readonly reason: StopReason;
  /** The vendor's reason (`STOP`, `end_turn`, `length`); null when it reported none. */
  readonly raw: string | null;
  /** The stop sequence that was met, where the format reports it. */
  readonly sequence?: string;
  /** The vendor's explanation of a refusal or filter. */
  readonly explanation?: string;
}

/**
 * The stop to report to the caller. A reply with a tool call that ended normally is reported as `tool_calls`, because
 * agents continue only then; a limit that was reached stays a limit. Without a call, `tool_calls` is a normal end: a
 * client could answer nothing.
 */
export function stopFor(stop: Stop, hasToolCall: boolean): Stop {
  if (!hasToolCall && stop.reason === "tool_calls") return { ...stop, reason: "end" };
  return hasToolCall && stop.reason === "end" ? { ...stop, reason: "tool_calls" } : stop;
}

/** True for a call of one of the caller's tools. */
export function isToolCall(part: Part): part is ToolCallPart {
  return part.kind === "tool_call";
}
