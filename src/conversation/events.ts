import type { Citation, ImagePart } from "./conversation.ts";
import type { TokenLogprob } from "./logprobs.ts";
import type { Stop } from "./reply.ts";
import type { Seal } from "./seal.ts";
import type { Usage } from "./usage.ts";
import type { WebSearchPart } from "./web_search.ts";

/** How a streamed part opens. Text of it follows in deltas. */
export type PartOpening =
  | { readonly kind: "text" }
  | { readonly kind: "refusal" }
  | { readonly kind: "reasoning"; readonly redacted?: boolean; readonly id?: string }
  | { readonly kind: "tool_call"; readonly callId: string; readonly tool: string; readonly custom?: boolean };

/**
 * A step of a streamed reply in neutral words. Every reader promises: `start` first and once; for each part one
 * `part-start`, any number of `part-delta` and `part-seal`, one `part-end`, all with that part's index, counted from 0
 * in order of opening; parts may overlap (a vendor may interleave tool calls), so a writer whose form forbids that must
 * hold back; `finish` last and once. `error` instead of `finish` when the vendor reports a failure in the stream.
 */
export type ReplyEvent =
  | {
    readonly type: "start";
    /** As in `Reply`. */
    readonly id: string;
    readonly model: string;
    readonly createdAt: number | null;
    /** What is known of the prompt so far; null where the form tells only at the end. */
    readonly usage: Usage | null;
    /** True where the form tells searches behind the text that rests on them. */
    readonly tellsSearchesLast?: boolean;
  }
  | { readonly type: "part-start"; readonly index: number; readonly part: PartOpening }
  /** More text, thought, refusal, or JSON text of a call's arguments. Never empty. A text's tokens, where asked for. */
  | {
    readonly type: "part-delta";
    readonly index: number;
    readonly text: string;
    readonly logprobs?: readonly TokenLogprob[];
  }
  | { readonly type: "part-seal"; readonly index: number; readonly seal: Seal }
  /** Citations of a text part, where the form tells them in a stream; their offsets count from the part's beginning. */
  | { readonly type: "part-end"; readonly index: number; readonly citations?: readonly Citation[] }
  /** A picture, which comes whole; it has an index of its own and no start, delta or end. */
  | { readonly type: "image"; readonly index: number; readonly image: ImagePart }
  /** A search that the vendor has run, which comes whole as a picture does. */
  | { readonly type: "web_search"; readonly index: number; readonly search: WebSearchPart }
  | { readonly type: "finish"; readonly stop: Stop; readonly usage: Usage | null }
  | {
    readonly type: "error";
    readonly message: string;
    readonly vendorCode: string | null;
    readonly status: number | null;
  };
