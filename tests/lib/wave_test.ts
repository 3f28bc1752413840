import { assertEquals } from "@std/assert";
import { concatBytes } from "../../src/platform/lib/bytes/concat_bytes.ts";
import { readWaveHeader, WAVE_HEADER_BYTES, waveHeader } from "../../src/platform/lib/collections/wave.ts";

const FORMAT = { rate: 24_000, channels: 2, bitsPerSample: 16 };

Deno.test("waveHeader() writes what readWaveHeader() reads", () => {
  const header = waveHeader(FORMAT, 1_000);
  assertEquals(header.length, WAVE_HEADER_BYTES);
  assertEquals(readWaveHeader(header), { format: FORMAT, start: WAVE_HEADER_BYTES, lengthBytes: 1_000 });
  const view = new DataView(header.buffer);
  // The size of the file without its first eight bytes; bytes a second; bytes of one frame.
  assertEquals([view.getUint32(4, true), view.getUint32(28, true), view.getUint16(32, true)], [1_036, 96_000, 4]);
});

Deno.test("readWaveHeader() skips other chunks, also of odd length", () => {
  const header = waveHeader(FORMAT, 8);
  const list = new Uint8Array([...new TextEncoder().encode("LIST"), 3, 0, 0, 0, 1, 2, 3, 0]);
  const file = concatBytes([header.slice(0, 36), list, header.slice(36)]);
  assertEquals(readWaveHeader(file), { format: FORMAT, start: WAVE_HEADER_BYTES + list.length, lengthBytes: 8 });
});

Deno.test("readWaveHeader() returns null for anything else", () => {
  const compressed = waveHeader(FORMAT, 8);
  compressed[20] = 85;
  const header = waveHeader(FORMAT, 8);
  const others = [new Uint8Array(0), new TextEncoder().encode("RIFF"), header.slice(0, 30), compressed];
  for (const bytes of others) assertEquals(readWaveHeader(bytes), null);
});
