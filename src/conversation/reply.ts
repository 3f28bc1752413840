import type { ImagePart, Part, ReasoningPart, RefusalPart, TextPart, ToolCallPart } from "./conversation.ts";
import type { Usage } from "./usage.ts";
import type { WebSearchPart } from "./web_search.ts";

/** What a part of a reply can be. */
export type ReplyPart = TextPart | ImagePart | ReasoningPart | RefusalPart | ToolCallPart | WebSearchPart;

/** A model's whole answer in neutral words. */
export interface Reply {
  /** The vendor's id of the answer, or one that the gateway made. */
  readonly id: string;
  /** The model's name as the vendor gave it. */
  readonly model: string;
  /** Unix seconds; null where the form does not say. */
  readonly createdAt: number | null;
  /** In the order in which the model gave them. */
  readonly parts: readonly ReplyPart[];
  /** Why the model stopped. */
  readonly stop: Stop;
  /** Null when the vendor did not report any. */
  readonly usage: Usage | null;
  /** Dotted names, in the vendor's spelling, of what the answer held and this form has no word for. */
  readonly beyond: readonly string[];
}

/** Why a model stopped, in our words. */
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

/** Why a model stopped: our word and the vendor's. */
export interface Stop {
  /** Our word, which every form has a spelling for. */
  readonly reason: StopReason;
  /** The vendor's own word (`STOP`, `end_turn`, `length`), null where it gave none. */
  readonly raw: string | null;
  /** The sequence that was met, where the form tells. */
  readonly sequence?: string;
  /** The vendor's explanation of a refusal or filter. */
  readonly explanation?: string;
}

/**
 * The stop that a caller must be told: when a reply holds a tool call, agents go on only if the stop says so, whatever
 * the vendor said; a limit that was hit stays a limit.
 */
export function stopFor(stop: Stop, hasToolCall: boolean): Stop {
  return hasToolCall && stop.reason === "end" ? { ...stop, reason: "tool_calls" } : stop;
}

/** True when a part is a call of the caller's tool. */
export function isToolCall(part: Part): part is ToolCallPart {
  return part.kind === "tool_call";
}
