import { assertEquals } from "@std/assert";
import { createParser } from "eventsource-parser";
import fc from "fast-check";
import { concatBytes } from "../../src/platform/lib/bytes/concat_bytes.ts";
import { EventSplitter } from "../../src/services/replays/event_splitter.ts";

const encoder = new TextEncoder();

function split(text: string, cuts: readonly number[]) {
  const bytes = encoder.encode(text);
  const splitter = new EventSplitter();
  const places = [...new Set([0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])].toSorted((a, b) =>
    a - b
  );
  const blocks = places.slice(1).flatMap((end, n) => splitter.push(bytes.slice(places[n], end)));
  return [...blocks, ...splitter.end()];
}

function eventsIn(text: string) {
  const events: { id: string | undefined; event: string | undefined; data: string }[] = [];
  const parser = createParser({ onEvent: ({ id, event, data }) => events.push({ id, event, data }) });
  parser.feed(text);
  return events;
}

const word = fc.stringMatching(/^[a-z{}":,é🦊 ]{0,12}$/u);

Deno.test("events keep their content and get rising ids, however the stream is cut and its lines end", () => {
  const event = fc.record({
    name: fc.option(fc.constantFrom("ping", "delta")),
    data: word,
    lineEnd: fc.constantFrom("\n", "\r\n"),
  });
  const cuts = fc.array(fc.nat(5_000), { maxLength: 30 });
  fc.assert(
    fc.property(fc.array(event, { maxLength: 20 }), cuts, (events, places) => {
      const text = events.map(({ name, data, lineEnd }) =>
        `${name === null ? "" : `event: ${name}${lineEnd}`}data: x${data}${lineEnd}${lineEnd}`
      ).join("");
      const blocks = split(text, places);
      assertEquals(blocks.every(({ isEvent }) => isEvent), true);
      const joined = new TextDecoder().decode(concatBytes(blocks.map(({ bytes }) => bytes)));
      const before = eventsIn(text.replaceAll("\r\n", "\n"));
      const after = eventsIn(joined.replaceAll("\r\n", "\n"));
      assertEquals(
        after.map(({ event, data }) => ({ event, data: data.trimEnd() })),
        before.map(({ event, data }) => ({ event, data: data.trimEnd() })),
      );
      assertEquals(after.map(({ id }) => id), before.map((_, n) => String(n + 1)));
    }),
  );
});

Deno.test("comments get no id, a vendor's own id does not count, and an open end is the last event", () => {
  const blocks = split(": ping\n\nid: 77\ndata: a\n\n: ping\n\ndata: b", [3, 9, 20]);
  assertEquals(
    blocks.map(({ bytes, isEvent }) => [new TextDecoder().decode(bytes), isEvent]),
    [
      [": ping\n\n", false],
      ["id: 77\ndata: a\nid: 1\n\n", true],
      [": ping\n\n", false],
      ["data: b\nid: 2\n\n", true],
    ],
  );
});

Deno.test("the blocks do not depend on how the stream is cut, whatever its line ends", () => {
  const line = fc.constantFrom("", "", ": ping", "data: à", "data: 1\u00a0", "event: x", "x");
  const lineEnd = fc.constantFrom("\n", "\r\n", "\r");
  const cuts = fc.array(fc.nat(5_000), { maxLength: 30 });
  fc.assert(
    fc.property(fc.array(fc.tuple(line, lineEnd), { maxLength: 40 }), cuts, (lines, places) => {
      const text = lines.map((parts) => parts.join("")).join("");
      const shown = (blocks: ReturnType<typeof split>) =>
        new TextDecoder().decode(concatBytes(blocks.map(({ bytes }) => bytes)));
      const [cut, whole] = [shown(split(text, places)), shown(split(text, []))];
      assertEquals(eventsIn(cut), eventsIn(whole));
      assertEquals(
        eventsIn(whole).map(({ event, data }) => ({ event, data })),
        eventsIn(`${text}\n\n\n`).map(({ event, data }) => ({ event, data })),
      );
    }),
    { numRuns: 500 },
  );
});

Deno.test("content keeps its last byte, whichever it is", () => {
  // In UTF-8, "à" ends with the byte of a blank that does not break.
  const [block] = split("data: à\n\n", [7]);
  assertEquals(new TextDecoder().decode(block?.bytes), "data: à\nid: 1\n\n");
});

Deno.test("blank lines and comments of one read are one block, and keep every byte", () => {
  const text = ": a\n\n\n\n: b\r\n\r\n\n";
  const blocks = split(text, []);
  assertEquals(blocks.map(({ bytes, isEvent }) => [new TextDecoder().decode(bytes), isEvent]), [[text, false]]);
});
