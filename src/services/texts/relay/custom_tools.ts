import type { Conversation } from "../../../conversation/neutral/conversation.ts";
import type { ReplyEvent } from "../../../conversation/neutral/events.ts";
import type { ReplyPart } from "../../../conversation/neutral/reply.ts";

/**
 * Tools with free text as input exist in one family of formats only. The codecs of other formats offer them as
 * functions with one property `input`. This file converts such a call back to the tool that the caller offered.
 */

const NO_TOOLS: ReadonlySet<string> = new Set();

/** Returns the names of the caller's tools of kind `custom`. */
export function customToolsOf({ tools }: Conversation): ReadonlySet<string> {
  if (!tools.some(({ kind }) => kind === "custom")) return NO_TOOLS;
  return new Set(tools.filter(({ kind }) => kind === "custom").map(({ name }) => name));
}

/** Returns a part of a whole reply, unwrapped if it is a call of such a tool. */
export function unwrappedPart(part: ReplyPart, customTools: ReadonlySet<string>): ReplyPart {
  if (part.kind !== "tool_call" || part.custom || !customTools.has(part.tool)) return part;
  return { ...part, custom: true, input: freeTextOf(part.input) };
}

/**
 * Does the same as {@linkcode unwrappedPart} for a stream: the arguments of such a call are held until they are
 * complete.
 */
export function customToolUnwrapper(customTools: ReadonlySet<string>): (event: ReplyEvent) => ReplyEvent[] {
  const held = new Map<number, string>();
  return (event) => {
    switch (event.type) {
      case "part-start": {
        const { part } = event;
        if (part.kind !== "tool_call" || part.custom || !customTools.has(part.tool)) return [event];
        held.set(event.index, "");
        return [{ ...event, part: { ...part, custom: true } }];
      }
      case "part-delta": {
        const begun = held.get(event.index);
        if (begun === undefined) return [event];
        held.set(event.index, begun + event.text);
        return [];
      }
      case "part-end": {
        const whole = held.get(event.index);
        if (whole === undefined) return [event];
        held.delete(event.index);
        const text = freeTextOf(whole);
        return text === "" ? [event] : [{ type: "part-delta", index: event.index, text }, event];
      }
      default:
        return [event];
    }
  };
}

/** Returns the text inside `{"input": text}`. Any other input is returned unchanged. */
function freeTextOf(input: string): string {
  try {
    const { input: text } = JSON.parse(input) as { input?: unknown };
    return typeof text === "string" ? text : input;
  } catch {
    return input;
  }
}
