import type { Call, Media } from "./conversation.ts";

/** Tokens of a request. */
export interface ReplyUsage {
  readonly input: number;
  readonly output: number;
  /** The part of `input` that came from a cache. */
  readonly cached: number;
  /** The part of `output` that is reasoning. */
  readonly reasoning: number;
}

/** An answer while it arrives. */
export interface Reply {
  thinking: string;
  text: string;
  calls: Call[];
  media: Media[];
  /** Why it ended, as the protocol names it; null until then. */
  stop: string | null;
  usage: ReplyUsage | null;
  /** US dollars; null until the gateway has reported it. */
  cost: number | null;
  /** A failure within the stream. */
  error: { readonly code: string; readonly message: string } | null;
}

/** Reads the events of a stream of one protocol. */
export interface ReplyReader {
  readonly reply: Reply;
  /**
   * Takes an event.
   *
   * @param data Its JSON.
   */
  take(data: unknown): void;
  /** The answer as the protocol writes it in the next request. */
  own(): unknown;
}

/** An answer that has not begun. */
export function emptyReply(): Reply {
  return { thinking: "", text: "", calls: [], media: [], stop: null, usage: null, cost: null, error: null };
}

/** Writes a number of dollars if there is one. */
export function costIn(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}
