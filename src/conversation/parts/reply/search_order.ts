import type { EventWriter, ReplyContext } from "../../contract/caller_format.ts";
import type { ReplyEvent } from "../../neutral/events.ts";
import { isSearchNeeded } from "../request/offered_search.ts";
import type { ReplyPart } from "../../neutral/reply.ts";

/**
 * The parts of a reply with each search before the text that cites it. The content format reports the search last;
 * callers of formats with searches between texts expect it first.
 */
export function searchesFirst(parts: readonly ReplyPart[]): readonly ReplyPart[] {
  const last = parts.at(-1);
  const text = parts.findIndex(({ kind }) => kind === "text");
  if (last?.kind !== "web_search" || !last.isReportedLast || text < 0) return parts;
  return [...parts.slice(0, text), last, ...parts.slice(text, -1)];
}

/**
 * The same for a stream. If the vendor reports searches last and the request depends on its search, text is buffered
 * until the search arrives. Otherwise text is written at once, because most replies contain no search.
 */
export function withSearchesFirst(writer: EventWriter, { conversation }: ReplyContext): EventWriter {
  const held: ReplyEvent[] = [];
  let awaitsSearch = false;
  const writeHeld = () => held.splice(0).flatMap((event) => writer.write(event));
  return {
    write(event) {
      if (event.type === "start") {
        awaitsSearch = event.reportsSearchesLast === true && conversation !== null && isSearchNeeded(conversation);
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
    writeText: (index, text) => awaitsSearch ? null : writer.writeText(index, text),
    fail: (error) => [...writeHeld(), ...writer.fail(error)],
    keepalive: () => writer.keepalive?.() ?? null,
  };
}
