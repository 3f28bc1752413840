import { assertEquals } from "@std/assert";
import fc from "fast-check";
import {
  hasInvalidString,
  INDEX_PIECE_BYTES,
  indexedOffsets,
  indexPiece,
  isIndexedAscii,
  startIndex,
} from "../../src/platform/lib/json/json_index.ts";
import { buildWasm } from "../support/build_wasm.ts";

const SOURCE = new URL("../../src/platform/lib/json/json_index.wat", import.meta.url);

/** A backslash as the last byte has no second character. */
const SPACE = 0x20;

interface Index {
  readonly offsets: number[];
  readonly isAscii: boolean;
  readonly hasInvalidString: boolean;
}

function indexOf(bytes: Uint8Array): Index {
  startIndex();
  const offsets: number[] = [];
  for (let from = 0; from < bytes.length; from += INDEX_PIECE_BYTES) {
    const count = indexPiece(bytes, from);
    offsets.push(...indexedOffsets.subarray(0, count));
  }
  return { offsets, isAscii: isIndexedAscii(), hasInvalidString: hasInvalidString() };
}

/** The same, one byte at a time. */
function slowIndexOf(bytes: Uint8Array): Index {
  const offsets: number[] = [];
  let inString = false;
  let isEscaped = false;
  let hasInvalidString = false;
  bytes.forEach((byte, at) => {
    const sign = String.fromCharCode(byte);
    if (isEscaped) {
      if ("u/".includes(sign) || !inString && "{}[]:,".includes(sign)) offsets.push(at);
      if (!'"\\/bfnrtu'.includes(sign)) hasInvalidString = true;
      if (inString && byte < 0x20) hasInvalidString = true;
      isEscaped = false;
    } else if (sign === "\\") isEscaped = true;
    else if (sign === '"') {
      inString = !inString;
      offsets.push(at);
    } else if (!inString && "{}[]:,".includes(sign)) offsets.push(at);
    else if (inString && byte < 0x20) hasInvalidString = true;
  });
  return { offsets, isAscii: bytes.every((byte) => byte < 0x80), hasInvalidString };
}

Deno.test("json_index.wasm is what its source builds", async () => {
  const built = await buildWasm(await Deno.readTextFile(SOURCE));
  assertEquals(await Deno.readFile(new URL("json_index.wasm", SOURCE)), built, "run `deno task wasm`");
});

Deno.test("indexPiece() finds the same as a loop over the bytes, for any bytes", () => {
  const sign = fc.oneof(fc.constantFrom(...'{}[]:,"\\u/bn a\n').map((each) => each.charCodeAt(0)), fc.nat(255));
  const bytes = fc.array(sign, { maxLength: 300 }).map((each) => Uint8Array.from([...each, SPACE]));
  fc.assert(fc.property(bytes, (each) => assertEquals(indexOf(each), slowIndexOf(each))), { numRuns: 1_000 });
});

Deno.test("indexPiece() finds the same where most blocks have nothing to find", () => {
  const filler = fc.tuple(fc.constantFrom("a", "é", "u", "{"), fc.nat(200)).map(([sign, times]) => sign.repeat(times));
  const sign = fc.constantFrom('"', "\\", '\\"', "\\u", "\\x", "\n", "\u0001", ":", "/");
  const text = fc.array(fc.tuple(filler, sign), { maxLength: 12 }).map((each) => `"${each.flat().join("")} `);
  fc.assert(
    fc.property(text.map((each) => new TextEncoder().encode(each)), (bytes) => {
      assertEquals(indexOf(bytes), slowIndexOf(bytes));
    }),
    { numRuns: 1_000 },
  );
});

Deno.test("indexPiece() continues strings and escapes across the ends of pieces", () => {
  const tail = fc.array(fc.constantFrom(...'\\\\"":,{}u/é'), { maxLength: 80 }).map((each) => each.join(""));
  const filler = fc.constantFrom("a", "\\\\", "\\", '"a"', "\\n");
  fc.assert(
    fc.property(filler, tail, fc.nat(80), (fill, end, before) => {
      const start = '{"a":"' + fill.repeat(INDEX_PIECE_BYTES).slice(0, INDEX_PIECE_BYTES - 6 - before);
      const bytes = new TextEncoder().encode(`${start}${end} `);
      assertEquals(indexOf(bytes), slowIndexOf(bytes));
    }),
    { numRuns: 60 },
  );
});
