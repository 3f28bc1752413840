import { assertThrows } from "@std/assert";
import { Buffer } from "node:buffer";
import { constants, zstdCompressSync } from "node:zlib";
import { ZstdFrames } from "../../src/platform/http/zstd_frames.ts";

const TEXTS = [
  "",
  "x",
  "hello ".repeat(100),
  JSON.stringify(Array.from({ length: 60_000 }, (_, index) => index * 7919)),
];
const PARAMETERS = [{}, { [constants.ZSTD_c_checksumFlag]: 1 }, { [constants.ZSTD_c_contentSizeFlag]: 0 }];
const WHOLE = TEXTS.flatMap((text) => PARAMETERS.map((params) => zstdCompressSync(Buffer.from(text), { params })));
const SKIPPABLE = Buffer.from([0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);

function follow(body: Uint8Array, pieceBytes = body.length): void {
  const frames = new ZstdFrames();
  for (let start = 0; start < body.length; start += pieceBytes) frames.add(body.subarray(start, start + pieceBytes));
  frames.end();
}

Deno.test("a whole frame ends, in pieces of any size, and so do several with a skippable one", () => {
  for (const frame of WHOLE) {
    follow(frame);
    follow(frame, 1);
    follow(Buffer.concat([frame, SKIPPABLE, frame]), 7);
  }
});

Deno.test("a frame that lacks bytes does not end, wherever it is cut", () => {
  for (const frame of WHOLE) {
    const step = Math.max(1, Math.floor(frame.length / 100));
    for (let length = 0; length < frame.length; length += step) {
      assertThrows(() => follow(frame.subarray(0, length)), RangeError);
    }
    assertThrows(() => follow(frame.subarray(0, -1)), RangeError);
  }
});

Deno.test("other bytes after a frame are refused", () => {
  for (const frame of WHOLE) {
    for (const rest of ["g", "garbage", "\0\0\0\0\0"]) {
      assertThrows(() => follow(Buffer.concat([frame, Buffer.from(rest)])), RangeError);
    }
  }
});
