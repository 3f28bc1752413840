import { assertEquals, assertThrows } from "@std/assert";
import { compactRecords } from "../../src/platform/lib/json/compact_record.ts";

interface Note {
  readonly id: string;
  readonly text: string;
  readonly tags: readonly string[];
  readonly amount: bigint | null;
  readonly more?: unknown;
}

const notes = compactRecords<Note>({
  names: { i: "id", t: "text", g: "tags" },
  usual: { tags: [], amount: null },
});

const roundTrip = (note: Note) => notes.read(notes.write(note)).record;

Deno.test("compactRecords(): reading reverses writing for every kind of value", () => {
  const texts = [
    "",
    "plain",
    "\0",
    "\0n12",
    "\0s",
    "ligne\nsuivante",
    "☾ \ud83c\udf0a",
    "\ud800 alone",
    "a".repeat(20_000),
  ];
  for (const text of texts) {
    for (const amount of [null, 0n, -1n, 10n ** 30n]) {
      for (const tags of [[], [text], ["a", text]]) {
        const more = { [text || "key"]: [text, { amount, deep: [1, 2.5, true, null, text] }] };
        for (const note of [{ id: "1", text, tags, amount }, { id: "1", text, tags, amount, more }]) {
          assertEquals(roundTrip(note), note);
        }
      }
    }
  }
});

Deno.test("compactRecords() keeps a field name without a short form, and rejects one that is another's short form", () => {
  const note = { id: "1", text: "x", tags: [], amount: null, i: "not the id" } as Note;
  assertEquals(roundTrip({ id: "1", text: "x", tags: [], amount: null, more: 1 }).more, 1);
  assertThrows(() => notes.write(note), RangeError, 'it stands for "id"');
});

Deno.test("compactRecords() keeps bytes after a record unchanged", () => {
  const note = { id: "1", text: "two\nlines", tags: [], amount: 5n };
  for (
    const tail of [new Uint8Array(), new Uint8Array([10, 0, 255, 10]), crypto.getRandomValues(new Uint8Array(5_000))]
  ) {
    assertEquals(notes.read(notes.write(note, tail)), { record: note, tail });
  }
});

Deno.test("compactRecords() rejects records of a newer version", () => {
  const bytes = notes.write({ id: "1", text: "x", tags: [], amount: null });
  bytes[0] = 2;
  assertThrows(() => notes.read(bytes), Error, "newer version");
});
