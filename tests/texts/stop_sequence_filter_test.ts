import { assertEquals } from "@std/assert";
import fc from "fast-check";
import type { ReplyEvent } from "../../src/conversation/neutral/events.ts";
import { StopSequenceFilter } from "../../src/services/texts/relay/stop_sequence_filter.ts";

/** Returns the text of a stream in chunks, and whether it was cut. */
function cut(stop: readonly string[], pieces: readonly string[]): { text: string; sequence: string | null } {
  const cutter = new StopSequenceFilter(stop);
  const events: ReplyEvent[] = [
    { type: "part-start", index: 0, part: { kind: "text" } },
    ...pieces.filter((text) => text !== "").map((text): ReplyEvent => ({ type: "part-delta", index: 0, text })),
    { type: "part-end", index: 0 },
  ];
  const out = events.flatMap((event) => cutter.push(event));
  const finish = out.find((event) => event.type === "finish");
  const text = out.map((event) => event.type === "part-delta" ? event.text : "").join("");
  return { text, sequence: finish?.type === "finish" ? finish.stop.sequence ?? null : null };
}

Deno.test("StopSequenceFilter ends a text in any chunks at the same position as the whole text", () => {
  const letters = fc.stringMatching(/^[ab]*$/);
  fc.assert(
    fc.property(fc.array(letters), fc.array(fc.stringMatching(/^[ab]{1,3}$/), { minLength: 1 }), (pieces, stop) => {
      const whole = pieces.join("");
      const places = stop.map((sequence) => whole.indexOf(sequence)).filter((at) => at !== -1);
      const { text, sequence } = cut(stop, pieces);
      assertEquals(sequence === null, places.length === 0);
      // A match that ends earlier may be found before one that begins earlier. The text is never longer than that.
      if (places.length === 0) assertEquals(text, whole);
      else assertEquals(whole.startsWith(text), true);
    }),
  );
});

Deno.test("StopSequenceFilter ends open parts, finishes once and drops the rest", () => {
  const cutter = new StopSequenceFilter(["END"]);
  cutter.push({ type: "part-start", index: 0, part: { kind: "text" } });
  const events = [
    ...cutter.push({ type: "part-delta", index: 0, text: "ab EN" }),
    ...cutter.push({ type: "part-delta", index: 0, text: "D more" }),
    ...cutter.push({ type: "part-delta", index: 0, text: "and more" }),
  ];
  assertEquals(events, [
    { type: "part-delta", index: 0, text: "ab " },
    { type: "part-end", index: 0 },
    { type: "finish", stop: { reason: "stop_sequence", raw: null, sequence: "END" }, usage: null },
  ]);
});

Deno.test("StopSequenceFilter never splits a surrogate pair", () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom("😀", "a", "😀b", "é")),
      fc.constantFrom("END", "E", "a b c"),
      (pieces, stop) => {
        const cutter = new StopSequenceFilter([stop]);
        cutter.push({ type: "part-start", index: 0, part: { kind: "text" } });
        const events = pieces.flatMap((text) => cutter.push({ type: "part-delta", index: 0, text }));
        for (const event of events) if (event.type === "part-delta") assertEquals(event.text.isWellFormed(), true);
      },
    ),
  );
});

Deno.test("StopSequenceFilter returns the held text of other parts when one part matches", () => {
  const cutter = new StopSequenceFilter(["END"]);
  for (const index of [0, 1]) cutter.push({ type: "part-start", index, part: { kind: "text" } });
  cutter.push({ type: "part-delta", index: 0, text: "EN" });
  assertEquals(cutter.push({ type: "part-delta", index: 1, text: "b END" }), [
    { type: "part-delta", index: 0, text: "EN" },
    { type: "part-end", index: 0 },
    { type: "part-delta", index: 1, text: "b " },
    { type: "part-end", index: 1 },
    { type: "finish", stop: { reason: "stop_sequence", raw: null, sequence: "END" }, usage: null },
  ]);
});

Deno.test("only the longest end that begins a sequence is held back, and the first token never otherwise", () => {
  const filter = new StopSequenceFilter(["\n\nHuman:", "END"]);
  const shown = (text: string) =>
    filter.push({ type: "part-delta", index: 0, text }).flatMap((event) =>
      event.type === "part-delta" ? event.text : []
    );
  filter.push({ type: "part-start", index: 0, part: { kind: "text" } });
  assertEquals(shown("Hello"), ["Hello"]);
  assertEquals(shown(" world.\n"), [" world."]);
  assertEquals(shown("\nHum"), []);
  assertEquals(shown("bug"), ["\n\nHumbug"]);
  assertEquals(shown(" the EN"), [" the "]);
  assertEquals(shown("E"), ["EN"]);
  assertEquals(shown("ND"), []);
});
