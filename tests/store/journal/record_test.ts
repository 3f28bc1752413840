import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { decodeRecords, RecordEncoder } from "../../../src/platform/store/journal/record.ts";
import { concatBytes } from "../../../src/platform/lib/bytes/concat_bytes.ts";

const text = fc.string({ unit: "binary", maxLength: 60 }).map((any) => any.toWellFormed().replaceAll("\n", ""));

function journalOf(texts: readonly string[]): Uint8Array {
  const encoder = new RecordEncoder();
  return concatBytes(texts.map((each) => encoder.encode(each).slice()));
}

/** Whether the first texts occur among the others in their order. */
function isWithin(few: readonly string[], many: readonly string[]): boolean {
  let at = 0;
  for (const each of many) if (each === few[at]) at++;
  return at === few.length;
}

Deno.test("reading undoes writing for every text without line feeds", () => {
  fc.assert(fc.property(fc.array(text), (texts) => {
    assertEquals(decodeRecords(journalOf(texts)), { texts, damagedBytes: 0 });
  }));
});

Deno.test("a text of several kilobytes is a record", () => {
  const texts = ["a".repeat(9_000), "模".repeat(9_000), "b"];
  assertEquals(decodeRecords(journalOf(texts)).texts, texts);
});

Deno.test("a journal cut at every byte has every whole record, and the incomplete one is not damage", () => {
  const texts = ["one", "", "two words", "模型", "five"];
  const bytes = journalOf(texts);
  const ends: number[] = [];
  for (const [at] of texts.entries()) ends.push(journalOf(texts.slice(0, at + 1)).length);
  for (let cut = 0; cut <= bytes.length; cut++) {
    const whole = ends.filter((end) => end <= cut).length;
    assertEquals(decodeRecords(bytes.subarray(0, cut)), { texts: texts.slice(0, whole), damagedBytes: 0 });
  }
});

Deno.test("a half-written record never hides the record after it", () => {
  const [half, next] = [journalOf(["half of it"]), journalOf(["next"])];
  for (let cut = 0; cut < half.length; cut++) {
    assertEquals(decodeRecords(concatBytes([half.subarray(0, cut), next])).texts, ["next"], `cut at ${cut}`);
  }
});

Deno.test("overwritten bytes cost the records that they touch, and are counted", () => {
  const texts = Array.from({ length: 12 }, (_, i) => `record ${i}`);
  const bytes = journalOf(texts);
  const size = bytes.length / 12 | 0;
  const overwrite = fc.record({
    at: fc.nat(bytes.length - 1),
    garbage: fc.uint8Array({ minLength: 1, maxLength: 20 }),
  });
  fc.assert(fc.property(overwrite, ({ at, garbage }) => {
    const damaged = bytes.slice();
    damaged.set(garbage.subarray(0, bytes.length - at), at);
    const { texts: read, damagedBytes } = decodeRecords(damaged);
    assert(isWithin(read, texts), "nothing is invented");
    // Garbage that replaces line feeds joins its neighbours.
    assert(read.length >= texts.length - Math.ceil(garbage.length / size) - 2);
    assert(read.length === texts.length || damagedBytes > 0 || at + garbage.length > bytes.length - 2 * size);
  }));
});

Deno.test("an empty file and a file of zeros have no records", () => {
  assertEquals(decodeRecords(new Uint8Array()), { texts: [], damagedBytes: 0 });
  assertEquals(decodeRecords(new Uint8Array(4_096)), { texts: [], damagedBytes: 4_096 });
});
