import { Buffer } from "node:buffer";
import { crc32, deflateSync } from "node:zlib";

/** A PNG of one colour. One with sides of 8,000 has the maximum pixels in 83 KB. */
export function plainPng(width: number, height: number): Uint8Array<ArrayBuffer> {
  const row = Buffer.alloc(1 + Math.ceil(width / 8));
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head[8] = 1; // one bit a pixel, in grey
  const pixels = deflateSync(Buffer.concat(new Array(height).fill(row)));
  const parts = [Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), chunk("IHDR", head), chunk("IDAT", pixels)];
  return new Uint8Array(Buffer.concat([...parts, chunk("IEND", Buffer.alloc(0))]));
}

function chunk(name: string, body: Uint8Array): Buffer {
  const named = Buffer.concat([Buffer.from(name, "latin1"), body]);
  const whole = Buffer.alloc(named.length + 8);
  whole.writeUInt32BE(body.length, 0);
  named.copy(whole, 4);
  whole.writeUInt32BE(crc32(named), named.length + 4);
  return whole;
}

/** A WAVE file of empty chunks, which a reader has to visit one by one. */
export function wavOfEmptyChunks(lengthBytes: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(lengthBytes);
  bytes.set(Buffer.from("RIFF\xff\xff\xff\x00WAVE", "latin1"));
  const empty = Buffer.from("abcd\0\0\0\0", "latin1");
  for (let at = 12; at + 8 <= bytes.length; at += 8) bytes.set(empty, at);
  return bytes;
}

/** A JPEG head with many empty segments before the size. */
export function jpegOfSegments(count: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(2 + count * 4 + 13);
  bytes.set([0xff, 0xd8]);
  for (let nth = 0; nth < count; nth++) bytes.set([0xff, 0xe0, 0, 2], 2 + nth * 4);
  bytes.set([0xff, 0xc0, 0, 11, 8, 0, 30, 0, 40, 1, 1, 0x11, 0], 2 + count * 4);
  return bytes;
}
