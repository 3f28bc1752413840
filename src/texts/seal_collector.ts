import type { ReasoningPart, ToolCallPart } from "../conversation/conversation.ts";
import type { ReplyEvent } from "../conversation/events.ts";

/** Gathers, from a stream's events, the reasoning that carries a proof and the calls that it belongs to. */
export class SealCollector {
  readonly #parts = new Map<number, ReasoningPart | ToolCallPart>();

  /** Looks at one event. */
  take(event: ReplyEvent): void {
    switch (event.type) {
      case "part-start":
        return this.#start(event.index, event.part);
      case "part-delta": {
        const part = this.#parts.get(event.index);
        if (part?.kind === "reasoning") this.#parts.set(event.index, { ...part, text: part.text + event.text });
        return;
      }
      case "part-seal": {
        const part = this.#parts.get(event.index);
        if (part) this.#parts.set(event.index, { ...part, seal: event.seal });
      }
    }
  }

  /** What was gathered, in the order of the reply. */
  parts(): (ReasoningPart | ToolCallPart)[] {
    return [...this.#parts.values()];
  }

  #start(index: number, part: (ReplyEvent & { type: "part-start" })["part"]): void {
    if (part.kind === "reasoning") this.#parts.set(index, { ...part, kind: "reasoning", text: "" });
    if (part.kind === "tool_call") this.#parts.set(index, { ...part, kind: "tool_call", input: "{}" });
  }
}
