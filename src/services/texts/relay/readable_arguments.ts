import { ControlEscaper, readableInput } from "../../../conversation/parts/request/call_input.ts";
import type { ReplyEvent } from "../../../conversation/neutral/events.ts";

/** A call whose arguments arrive in pieces. */
interface OpenCall {
  /** What was received before it was known whether the arguments are an object; null once they are. */
  held: string | null;
  /** True when they are something else, so that they are held to their end. */
  isOther: boolean;
  readonly escaper: ControlEscaper;
}

/**
 * Makes the arguments of calls in one stream readable, as `readableInput` does for whole ones. Objects are sent piece
 * by piece; any other text is held until its end.
 *
 * @param isFreeText Whether a tool takes free text, which stays as it is.
 */
export function argumentsReader(isFreeText: (tool: string) => boolean): (event: ReplyEvent) => ReplyEvent[] {
  const calls = new Map<number, OpenCall>();
  return (event) => {
    if (event.type === "part-start") {
      const { part, index } = event;
      if (part.kind === "tool_call" && !part.custom && !isFreeText(part.tool)) {
        calls.set(index, { held: "", isOther: false, escaper: new ControlEscaper() });
      }
      return [event];
    }
    const call = event.type === "part-delta" || event.type === "part-end" ? calls.get(event.index) : undefined;
    if (call === undefined) return [event];
    if (event.type === "part-delta") {
      const text = pieceOf(call, event.text);
      return text === event.text ? [event] : text === "" ? [] : [{ ...event, text }];
    }
    if (event.type !== "part-end") return [event];
    calls.delete(event.index);
    return call.held === null || call.held === ""
      ? [event]
      : [{ type: "part-delta", index: event.index, text: readableInput(call.held) }, event];
  };
}

/** The text to send now, of a piece that was received. */
function pieceOf(call: OpenCall, piece: string): string {
  if (call.held === null) return call.escaper.push(piece);
  const held = call.held += piece;
  if (call.isOther) return "";
  const first = held.trimStart()[0];
  if (first === undefined) return "";
  call.isOther = first !== "{";
  if (call.isOther) return "";
  call.held = null;
  return call.escaper.push(held);
}
