import type { ReplyEvent } from "../../../conversation/neutral/events.ts";

/**
 * Ends a stream's text at the first stop sequence. Of the text only the longest end that begins one is held back. After
 * a match, all further text is dropped and the stream is finished. The vendor's usage is then unknown.
 */
export class StopSequenceFilter {
  readonly #stop: readonly string[];
  readonly #held = new Map<number, string>();
  readonly #open = new Set<number>();
  #cut = false;

  /** @param stop Sequences; empty ones never match. */
  constructor(stop: readonly string[]) {
    this.#stop = stop.filter((sequence) => sequence !== "");
  }

  /** Returns the events that replace one event. */
  push(event: ReplyEvent): ReplyEvent[] {
    if (this.#cut) return [];
    switch (event.type) {
      case "part-start":
        this.#open.add(event.index);
        if (event.part.kind === "text") this.#held.set(event.index, "");
        return [event];
      case "part-delta":
        return this.#held.has(event.index) ? this.#takeText(event.index, event.text) : [event];
      case "part-end": {
        const rest = this.#held.get(event.index) ?? "";
        this.#held.delete(event.index);
        this.#open.delete(event.index);
        return [...delta(event.index, rest), event];
      }
      default:
        return [event];
    }
  }

  #takeText(index: number, text: string): ReplyEvent[] {
    const whole = this.#held.get(index) + text;
    const match = this.#firstMatch(whole);
    if (match) return this.#finish(index, whole.slice(0, match.at), match.sequence);
    const shown = pairEnd(whole, whole.length - this.#begunLength(whole));
    this.#held.set(index, whole.slice(shown));
    return delta(index, whole.slice(0, shown));
  }

  /** The length of the longest end of a text that begins a sequence without being all of it. */
  #begunLength(text: string): number {
    let longest = 0;
    for (const sequence of this.#stop) {
      for (let length = Math.min(sequence.length - 1, text.length); length > longest; length--) {
        if (text.endsWith(sequence.slice(0, length))) longest = length;
      }
    }
    return longest;
  }

  #firstMatch(text: string): { at: number; sequence: string } | null {
    let first: { at: number; sequence: string } | null = null;
    for (const sequence of this.#stop) {
      const at = text.indexOf(sequence);
      if (at !== -1 && (first === null || at < first.at)) first = { at, sequence };
    }
    return first;
  }

  #finish(index: number, text: string, sequence: string): ReplyEvent[] {
    this.#cut = true;
    this.#held.set(index, text);
    // Text that other parts held back came before the match and is kept.
    const ends = [...this.#open].flatMap((open): ReplyEvent[] => [
      ...delta(open, this.#held.get(open) ?? ""),
      { type: "part-end", index: open },
    ]);
    const stop = { reason: "stop_sequence", raw: null, sequence } as const;
    return [...ends, { type: "finish", stop, usage: null }];
  }
}

/** Returns the position, or the one before it if it would split a surrogate pair. */
function pairEnd(text: string, at: number): number {
  const isInside = /[\ud800-\udbff]/.test(text.charAt(at - 1)) && /[\udc00-\udfff]/.test(text.charAt(at));
  return isInside ? at - 1 : at;
}

function delta(index: number, text: string): ReplyEvent[] {
  return text === "" ? [] : [{ type: "part-delta", index, text }];
}
