import { appendAll } from "../../../platform/lib/collections/append_all.ts";
import type { Part, ReasoningPart, TextPart, ToolCallPart } from "../../../conversation/neutral/conversation.ts";
import type { ReplyPart } from "../../../conversation/neutral/reply.ts";

/**
 * Formats with one list of calls have no place for reasoning and text between two calls: clients send back all
 * reasoning, then the text, then the calls. Vendors check reasoning against its place.
 */

/** What comes before a call, after the call before it. */
export interface ReasoningPlace {
  /** The signed reasoning, in order. */
  readonly reasoning: readonly ReasoningPart[];
  /** The characters of text before each reasoning, and at the end those before the call. */
  readonly texts: readonly number[];
  /** The signed reasoning after the last call of a reply. */
  readonly after?: readonly ReasoningPart[];
}

/** Whether a part is reasoning that its vendor signed. */
export function isSignedReasoning(part: Part): part is ReasoningPart {
  return part.kind === "reasoning" && part.signature !== undefined;
}

/** The places before the calls of a reply, in order; all null for a reply without signed reasoning. */
export function placesOf(parts: readonly ReplyPart[]): ReadonlyMap<ToolCallPart, ReasoningPlace | null> {
  const places = new Map<ToolCallPart, ReasoningPlace | null>();
  const hasReasoning = parts.some(isSignedReasoning);
  let last: ToolCallPart | null = null;
  let reasoning: ReasoningPart[] = [];
  let texts = [0];
  for (const part of parts) {
    if (part.kind === "text") texts.push(texts.pop()! + part.text.length);
    else if (isSignedReasoning(part)) {
      reasoning.push(part);
      texts.push(0);
    } else if (part.kind === "tool_call") {
      places.set(part, hasReasoning ? { reasoning, texts } : null);
      last = part;
      reasoning = [];
      texts = [0];
    }
  }
  const place = last === null ? null : places.get(last) ?? null;
  if (last !== null && place !== null && reasoning.length > 0) places.set(last, { ...place, after: reasoning });
  return places;
}

/**
 * Puts reasoning and text between the calls of a message. Other reasoning of the message is what the client shows, and
 * is left out. If the text is not the reply's, all of it stays before the first call.
 *
 * @param placeOf The place before a call; null if it is not known.
 */
export function withReasoningPlaced(
  parts: readonly Part[],
  placeOf: (call: ToolCallPart) => ReasoningPlace | null,
): Part[] {
  const calls = parts.filter((part) => part.kind === "tool_call");
  const shown = parts.filter((part) => part.kind !== "tool_call" && part.kind !== "reasoning");
  const textLength = lengthOf(shown);
  const isReplys = calls.reduce((sum, call) => sum + sumOf(placeOf(call)?.texts ?? []), 0) <= textLength;
  const left = new TextQueue(shown);
  const placed: Part[] = [];
  for (const [nth, call] of calls.entries()) {
    const place = placeOf(call);
    appendAll(placed, beforeCall(place, isReplys ? left : null));
    if (nth === 0 && !isReplys) appendAll(placed, left.take(Infinity));
    // Text after the calls is a vendor's rare last word, and no format lets it follow them in one message.
    if (nth === calls.length - 1) appendAll(placed, left.take(Infinity));
    placed.push(call, ...(place?.after ?? []));
  }
  return placed;
}

function beforeCall(place: ReasoningPlace | null, text: TextQueue | null): Part[] {
  if (place === null) return [];
  const before = place.reasoning.flatMap((reasoning, nth) => [...(text?.take(place.texts[nth] ?? 0) ?? []), reasoning]);
  return [...before, ...(text?.take(place.texts[place.reasoning.length] ?? 0) ?? [])];
}

/** Texts and other parts of a message, taken by characters of text. */
class TextQueue {
  readonly #parts: Part[];

  constructor(parts: readonly Part[]) {
    this.#parts = [...parts];
  }

  /** Removes and returns the first parts with this many characters; `Infinity` for all. */
  take(characters: number): Part[] {
    const taken: Part[] = [];
    let missing = characters;
    while (missing > 0 && this.#parts.length > 0) {
      const part = this.#parts.shift()!;
      if (part.kind !== "text" || part.text.length <= missing) {
        taken.push(part);
        missing -= part.kind === "text" ? part.text.length : 0;
      } else {
        taken.push(pieceOf(part, 0, missing));
        this.#parts.unshift(pieceOf(part, missing));
        missing = 0;
      }
    }
    return taken;
  }
}

/** A piece of a text. A signature of the text belongs to its end. */
function pieceOf({ signature, ...part }: TextPart, start: number, end?: number): TextPart {
  const text = part.text.slice(start, end);
  return end === undefined && signature ? { ...part, text, signature } : { ...part, text };
}

function lengthOf(parts: readonly Part[]): number {
  return sumOf(parts.map((part) => part.kind === "text" ? part.text.length : 0));
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}
