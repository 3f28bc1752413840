import type { ReasoningPart, TextPart, ToolCallPart } from "../../../conversation/neutral/conversation.ts";
import type { ReplyEvent } from "../../../conversation/neutral/events.ts";
import type { ReasoningSignature } from "../../../conversation/neutral/reasoning_signature.ts";

/** A part with a signature, or a part that a signature belongs to. */
export type SignedPart = ReasoningPart | TextPart | ToolCallPart;

interface Collected {
  readonly part: SignedPart;
  text: string;
  signature: ReasoningSignature | null;
}

/**
 * Collects the signatures in a stream's events and the parts that they belong to. The arguments of calls are not kept.
 */
export class SignatureCollector {
  readonly #parts = new Map<number, Collected>();

  /** Processes one event. */
  add(event: ReplyEvent): void {
    switch (event.type) {
      case "part-start":
        return this.#start(event.index, event.part);
      case "part-delta": {
        const collected = this.#parts.get(event.index);
        if (collected && collected.part.kind !== "tool_call") collected.text += event.text;
        return;
      }
      case "part-signature": {
        const collected = this.#parts.get(event.index);
        if (collected) collected.signature = event.signature;
      }
    }
  }

  /** Returns the collected parts in the order of the reply. */
  parts(): SignedPart[] {
    return [...this.#parts.values()].map(({ part, text, signature }) => ({
      ...part,
      ...part.kind === "tool_call" ? {} : { text },
      ...signature === null ? {} : { signature },
    }));
  }

  #start(index: number, part: (ReplyEvent & { type: "part-start" })["part"]): void {
    const opened = openedPart(part);
    if (opened !== null) this.#parts.set(index, { part: opened, text: "", signature: null });
  }
}

function openedPart(part: (ReplyEvent & { type: "part-start" })["part"]): SignedPart | null {
  switch (part.kind) {
    case "reasoning":
      return { ...part, text: "" };
    case "text":
      return { ...part, text: "" };
    case "tool_call":
      return { ...part, input: "{}" };
    case "refusal":
      return null;
  }
}
