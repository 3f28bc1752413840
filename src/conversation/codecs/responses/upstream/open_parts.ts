import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { Citation } from "../../../neutral/conversation.ts";
import type { PartOpening, ReplyEvent } from "../../../neutral/events.ts";
import { logprobsField, type TokenLogprob } from "../../../neutral/logprobs.ts";
import type { ContentCounters } from "../../../neutral/usage.ts";
import { numberOrNull } from "../../../neutral/wire_value.ts";
import { newHostedWork } from "../shared/usage.ts";

/** A part that is being read. */
export interface OpenPart {
  /** Its index in the reply, by order of opening. */
  readonly index: number;
  /** The text given so far, to find what a whole text adds and which part it belongs to. */
  text: string;
  /** The web sources so far; they are given with the end. */
  readonly citations: Citation[];
  /** True after its end was given. */
  ended: boolean;
}

/**
 * A vendor's output item. It is identified by `output_index` only, because some vendors change the id between events.
 */
export interface ReadItem {
  /** Parts by `content_index` for a message; other items have a single part at 0. */
  readonly parts: Map<number, OpenPart>;
  /** Whether reasoning is read from summaries or content, whichever came first: some vendors send both. */
  reasoning: { readonly source: "summary" | "content"; index: number } | null;
}

/** The state of reading a response stream. */
export interface Reading {
  /** By `output_index`. */
  readonly items: Map<number, ReadItem>;
  /** The index of the next part. */
  nextIndex: number;
  /** True after a call was opened; it determines the stop reason. */
  hasCall: boolean;
  /** True after a refusal was opened. */
  hasRefusal: boolean;
  /** True after `start` was given. */
  started: boolean;
  /** True after the end marker or a failure: later events are ignored. */
  ended: boolean;
  /** Finished searches and images. */
  readonly hosted: ContentCounters;
}

/** The state before the first event. */
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

/** The item of an event. */
export function itemAt(event: JsonObject, reading: Reading): ReadItem {
  const at = numberOrNull(event.output_index) ?? 0;
  let item = reading.items.get(at);
  if (!item) reading.items.set(at, item = { parts: new Map(), reasoning: null });
  return item;
}

/** The part at a position of an item, opened if needed. A part that has ended accepts no more text. */
export function ensurePart(
  item: ReadItem,
  at: number,
  opening: PartOpening,
  reading: Reading,
): { part: OpenPart; events: ReplyEvent[] } {
  const known = item.parts.get(at);
  if (known) return { part: known, events: [] };
  const part: OpenPart = { index: reading.nextIndex++, text: "", citations: [], ended: false };
  item.parts.set(at, part);
  if (opening.kind === "tool_call") reading.hasCall = true;
  if (opening.kind === "refusal") reading.hasRefusal = true;
  return { part, events: [{ type: "part-start", index: part.index, part: opening }] };
}

/**
 * The positions of the parts of a finished message, whose texts are known. Some vendors count other parts in the events
 * than in the finished item, so a part that was streamed is recognized by its text.
 */
export function positionsOf(texts: readonly string[], { parts }: ReadItem): number[] {
  const free = new Set(parts.keys());
  let unused = Math.max(-1, ...free) + 1;
  return texts.map((text, index) => {
    const begins = (at: number) => parts.get(at)!.text !== "" && text.startsWith(parts.get(at)!.text);
    const isHere = free.has(index) && (parts.get(index)!.text === "" || begins(index));
    const at = isHere ? index : [...free].find(begins) ?? (free.has(index) || !parts.has(index) ? index : unused);
    unused = Math.max(unused, at + 1);
    free.delete(at);
    return at;
  });
}

/** More text of a part, with its tokens; nothing for a part that has ended. */
export function continuePart(part: OpenPart, text: string, logprobs: readonly TokenLogprob[] = []): ReplyEvent[] {
  if (text === "" || part.ended) return [];
  part.text += text;
  return [{ type: "part-delta", index: part.index, text, ...logprobsField(logprobs) }];
}

/** The rest of a whole text that did not arrive in deltas; nothing where the whole does not begin with them. */
export function completePart(part: OpenPart, whole: string): ReplyEvent[] {
  return whole.startsWith(part.text) ? continuePart(part, whole.slice(part.text.length)) : [];
}

/** The end of a part; nothing for one that has ended. */
export function endPart(part: OpenPart): ReplyEvent[] {
  if (part.ended) return [];
  part.ended = true;
  const { index, citations } = part;
  return [{ type: "part-end", index, ...(citations.length > 0 ? { citations } : {}) }];
}

/** The ends of all open parts. */
export function closeAll(reading: Reading): ReplyEvent[] {
  return [...reading.items.values()].flatMap((item) => [...item.parts.values()].flatMap(endPart));
}
