import type { EventWriter, ReplyContext } from "./caller_format.ts";
import type { ReplyEvent } from "./events.ts";
import { isSearchNeeded } from "./offered_search.ts";
import type { ReplyPart } from "./reply.ts";

/**
 * The parts of a reply with a search before the text that rests on it. One form tells a search last, as its vendor
 * does; callers of the forms that have searches among the text expect it first.
 */
export function searchesFirst(parts: readonly ReplyPart[]): readonly ReplyPart[] {
  const last = parts.at(-1);
  const text = parts.findIndex(({ kind }) => kind === "text");
  if (last?.kind !== "web_search" || !last.isToldLast || text < 0) return parts;
  return [...parts.slice(0, text), last, ...parts.slice(text, -1)];
}

/**
 * The same for a stream. Where the vendor tells a search last and the request means nothing without one, the text waits
 * for it; any other text is written as it comes, as most replies rest on no search.
 */
export function withSearchesFirst(writer: EventWriter, { conversation }: ReplyContext): EventWriter {
  const held: ReplyEvent[] = [];
  let awaitsSearch = false;
  const writeHeld = () => held.splice(0).flatMap((event) => writer.write(event));
  return {
    write(event) {
      if (event.type === "start") {
        awaitsSearch = event.tellsSearchesLast === true && conversation !== null && isSearchNeeded(conversation);
      }
      const opensText = event.type === "part-start" && event.part.kind === "text";
      if (!awaitsSearch || (held.length === 0 && !opensText && event.type !== "web_search")) return writer.write(event);
      if (event.type !== "web_search" && event.type !== "finish" && event.type !== "error") {
        held.push(event);
        return [];
      }
      awaitsSearch = false;
      if (event.type === "web_search") return [...writer.write(event), ...writeHeld()];
      return [...writeHeld(), ...writer.write(event)];
    },
    fail: (error) => [...writeHeld(), ...writer.fail(error)],
  };
}
