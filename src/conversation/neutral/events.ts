import type { Citation, ImagePart } from "./conversation.ts";
import type { TokenLogprob } from "./logprobs.ts";
import type { Stop } from "./reply.ts";
import type { ReasoningSignature } from "./reasoning_signature.ts";
import type { Usage } from "./usage.ts";
import type { WebSearchPart } from "./web_search.ts";

/** The start of a streamed part. Its text follows in deltas. */
export type PartOpening =
  | { readonly kind: "text" }
  | { readonly kind: "refusal" }
  | { readonly kind: "reasoning"; readonly redacted?: boolean; readonly id?: string }
  | {
    readonly kind: "tool_call";
    readonly callId: string;
    readonly tool: string;
    readonly custom?: boolean;
    /** True if its signature is the next event, so that a writer that begins with it waits for no other. */
    readonly isSigned?: boolean;
  };

/**
 * One event of a streamed reply in the neutral form. Every reader gives them in this order:
 *
 * 1. `start`, once.
 * 2. For each part: one `part-start`, any number of `part-delta` and `part-signature`, one `part-end`, all with the
 *    part's index, which counts from 0 in order of opening. Parts may overlap, because a vendor may interleave tool
 *    calls; a writer whose format forbids that buffers them.
 * 3. `finish`, once, or `error` when the vendor reports a failure in the stream.
 */
export type ReplyEvent =
  | {
    readonly type: "start";
    /** As in `Reply`. */
    readonly id: string;
    readonly model: string;
    readonly createdAt: number | null;
    /** Usage of the prompt so far; null where the format reports it only at the end. */
    readonly usage: Usage | null;
    /** True where the format reports searches after the text that cites them. */
    readonly reportsSearchesLast?: boolean;
  }
  | { readonly type: "part-start"; readonly index: number; readonly part: PartOpening }
  /**
   * More text, reasoning, refusal, or JSON text of a call's arguments; never empty. With a text's tokens, if requested.
   */
  | {
    readonly type: "part-delta";
    readonly index: number;
    readonly text: string;
    readonly logprobs?: readonly TokenLogprob[];
  }
  | { readonly type: "part-signature"; readonly index: number; readonly signature: ReasoningSignature }
  /** Citations of a text part, if the format reports them in a stream. Offsets count from the start of the part. */
  | { readonly type: "part-end"; readonly index: number; readonly citations?: readonly Citation[] }
  /** A whole image. It has an index of its own and no start, delta or end. */
  | { readonly type: "image"; readonly index: number; readonly image: ImagePart }
  /** A whole search that the vendor ran; like an image, it has no start, delta or end. */
  | { readonly type: "web_search"; readonly index: number; readonly search: WebSearchPart }
  | { readonly type: "finish"; readonly stop: Stop; readonly usage: Usage | null }
  | {
    readonly type: "error";
    readonly message: string;
    readonly vendorCode: string | null;
    readonly status: number | null;
  };
