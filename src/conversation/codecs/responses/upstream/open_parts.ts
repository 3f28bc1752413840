import type { JsonObject } from "../../../../lib/json_object.ts";
import type { Citation } from "../../../conversation.ts";
import type { PartOpening, ReplyEvent } from "../../../events.ts";
import { logprobsField, type TokenLogprob } from "../../../logprobs.ts";
import type { ContentCounters } from "../../../usage.ts";
import { numberOrNull } from "../../../wire_value.ts";
import { newHostedWork } from "../shared/usage.ts";

/** A neutral part while it is read. */
export interface OpenPart {
  /** Its number in the reply, by the order of opening. */
  readonly index: number;
  /** How much of its text has gone out; whole texts that come later are compared with it. */
  length: number;
  /** The web sources so far: they go out with the end. */
  readonly citations: Citation[];
  /** True once its end went out. */
  ended: boolean;
}

/**
 * An output item of the vendor. Known by its `output_index` alone, since some vendors change the id from event to
 * event.
 */
export interface ReadItem {
  /** Parts by `content_index` for a message; the one part of any other item is at 0. */
  readonly parts: Map<number, OpenPart>;
  /** Summaries or words, whichever came first: a vendor that sends both says the same thing twice. */
  thoughts: { readonly word: "summary" | "words"; index: number } | null;
}

/** Where the reading of a response stream stands. */
export interface Reading {
  /** By `output_index`. */
  readonly items: Map<number, ReadItem>;
  /** Of the next part to be opened. */
  nextIndex: number;
  /** True once a call was opened, which decides the reason of the end. */
  hasCall: boolean;
  /** True once a refusal was opened. */
  hasRefusal: boolean;
  /** True once the start went out. */
  started: boolean;
  /** True after the form's end mark or a failure: what follows means nothing. */
  ended: boolean;
  /** Searches and pictures whose items have ended. */
  readonly hosted: ContentCounters;
}

/** The reading before the first event. */
export function newReading(): Reading {
  return {
    items: new Map(),
    nextIndex: 0,
    hasCall: false,
    hasRefusal: false,
    started: false,
    ended: false,
    hosted: newHostedWork(),
  };
}

/** The item that an event is about. */
export function itemAt(event: JsonObject, reading: Reading): ReadItem {
  const at = numberOrNull(event.output_index) ?? 0;
  let item = reading.items.get(at);
  if (!item) reading.items.set(at, item = { parts: new Map(), thoughts: null });
  return item;
}

/** The part at a place of an item, opened if it was not. An ended part takes no more text. */
export function ensurePart(
  item: ReadItem,
  at: number,
  opening: PartOpening,
  reading: Reading,
): { part: OpenPart; events: ReplyEvent[] } {
  const known = item.parts.get(at);
  if (known) return { part: known, events: [] };
  const part: OpenPart = { index: reading.nextIndex++, length: 0, citations: [], ended: false };
  item.parts.set(at, part);
  if (opening.kind === "tool_call") reading.hasCall = true;
  if (opening.kind === "refusal") reading.hasRefusal = true;
  return { part, events: [{ type: "part-start", index: part.index, part: opening }] };
}

/** Text that goes on in a part, with its tokens; none for a part that has ended. */
export function more(part: OpenPart, text: string, logprobs: readonly TokenLogprob[] = []): ReplyEvent[] {
  if (text === "" || part.ended) return [];
  part.length += text.length;
  return [{ type: "part-delta", index: part.index, text, ...logprobsField(logprobs) }];
}

/** What of a whole text has not come in deltas. */
export function rest(part: OpenPart, whole: string): ReplyEvent[] {
  return more(part, whole.slice(part.length));
}

/** The end of a part; nothing for one that has ended. */
export function endPart(part: OpenPart): ReplyEvent[] {
  if (part.ended) return [];
  part.ended = true;
  const { index, citations } = part;
  return [{ type: "part-end", index, ...(citations.length > 0 ? { citations } : {}) }];
}

/** The ends of all parts that are open. */
export function closeAll(reading: Reading): ReplyEvent[] {
  return [...reading.items.values()].flatMap((item) => [...item.parts.values()].flatMap(endPart));
}
