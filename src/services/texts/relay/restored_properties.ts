import type { ReplyEvent } from "../../../conversation/neutral/events.ts";
import type { ReplyPart } from "../../../conversation/neutral/reply.ts";
import { KeyRenamer, withRenamedKeys } from "../../../conversation/schemas/renamed_keys.ts";
import type { ToolPropertyNames } from "../../../conversation/neutral/write_result.ts";

/**
 * Vendors refuse some names of properties in the schema of a tool. Their requests have other names, and the calls in
 * their replies get the caller's names back here.
 */

/** Returns a part of a whole reply with the caller's names of properties. */
export function restoredPart(part: ReplyPart, names: ToolPropertyNames): ReplyPart {
  const own = part.kind === "tool_call" ? names.get(part.tool) : undefined;
  return own === undefined || part.kind !== "tool_call" ? part : { ...part, input: withRenamedKeys(part.input, own) };
}

/** Does the same as {@linkcode restoredPart} for the events of one stream. A split name is held until its end. */
export function propertyRestorer(names: ToolPropertyNames): (event: ReplyEvent) => ReplyEvent[] {
  const renamers = new Map<number, KeyRenamer>();
  return (event) => {
    switch (event.type) {
      case "part-start": {
        const own = event.part.kind === "tool_call" ? names.get(event.part.tool) : undefined;
        if (own !== undefined) renamers.set(event.index, new KeyRenamer(own));
        return [event];
      }
      case "part-delta": {
        const renamer = renamers.get(event.index);
        if (renamer === undefined) return [event];
        const text = renamer.push(event.text);
        return text === "" ? [] : [{ ...event, text }];
      }
      case "part-end": {
        const text = renamers.get(event.index)?.end() ?? "";
        renamers.delete(event.index);
        return text === "" ? [event] : [{ type: "part-delta", index: event.index, text }, event];
      }
      default:
        return [event];
    }
  };
}
