import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { TokenLogprob } from "../../../neutral/logprobs.ts";
import type { Stop } from "../../../neutral/reply.ts";
import type { Usage } from "../../../neutral/usage.ts";
import { newShown, type Shown } from "../shared/usage.ts";
import type { PartialCall } from "./partial_arguments.ts";

/**
 * The state of reading a reply. Chunks contain only new parts. Text continues the open part until a part of another
 * kind arrives, or the part has a signature. The stream has no end marker: `finish` is given at its end, because usage
 * may follow the finish reason.
 */
export interface Progress {
  id: string | null;
  next: number;
  calls: number;
  open: { readonly index: number; readonly kind: "text" | "reasoning"; signed: boolean } | null;
  partial: PartialCall | null;
  /** The text so far of each text part, by index, for the offsets of citations. */
  readonly texts: Map<number, string>;
  /** The number of searches so far, and their queries. */
  searches: number;
  readonly queries: Set<string>;
  /** The last candidate with citations. */
  cited: JsonObject | null;
  /** Tokens with no text so far. */
  readonly logprobs: TokenLogprob[];
  stop: Stop | null;
  usage: Usage | null;
  /** Billable content of the chunks that their usage does not count. */
  readonly shown: Shown;
  isOver: boolean;
  /** Names of contents that have no neutral form. */
  readonly unsupportedFields: Set<string>;
}

/** The state before the first chunk. */
export function newProgress(): Progress {
  return {
    id: null,
    next: 0,
    calls: 0,
    open: null,
    partial: null,
    texts: new Map(),
    searches: 0,
    queries: new Set(),
    cited: null,
    logprobs: [],
    stop: null,
    usage: null,
    shown: newShown(),
    isOver: false,
    unsupportedFields: new Set(),
  };
}
