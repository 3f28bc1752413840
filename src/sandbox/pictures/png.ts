import { Buffer } from "node:buffer";
import { crc32, deflateSync } from "node:zlib";
// @ts-types="npm:@types/pngjs@6.0.5"
import { PNG } from "pngjs";
import { PIXEL_BYTES, type Pixels } from "./pixels.ts";

const SIGNATURE = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
/** Eight bits per channel, colour with alpha, no further options. */
const FORM = [8, 6, 0, 0, 0];

/**
 * Encodes a PNG. Source: PNG specification, third edition. The reason for not using a library:
 * docs/decisions/0050-picture-files-of-the-sandbox.md.
 */
export function writePng({ width, height, data }: Pixels): Uint8Array<ArrayBuffer> {
  const rowBytes = width * PIXEL_BYTES;
  const rows = Buffer.alloc(height * (rowBytes + 1)); // each row begins with filter 0: none
  for (let y = 0; y < height; y++) rows.set(data.subarray(y * rowBytes, (y + 1) * rowBytes), y * (rowBytes + 1) + 1);
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set(FORM, 8);
  return Uint8Array.from(Buffer.concat([
    SIGNATURE,
    chunk("IHDR", head),
    chunk("IDAT", deflateSync(rows, { level: 1 })),
    chunk("IEND", Buffer.alloc(0)),
  ]));
}

/**
 * Decodes a PNG of any format.
 *
 * @throws {Error} If the bytes are not a PNG.
 */
export function readPng(bytes: Uint8Array<ArrayBuffer>): Pixels {
  const { width, height, data } = PNG.sync.read(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
  return { width, height, data: new Uint8ClampedArray(data) };
}

function chunk(type: string, content: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), content]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(content.length, 0);
  framed.set(body, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}
