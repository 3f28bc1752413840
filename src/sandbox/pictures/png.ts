import { Buffer } from "node:buffer";
import { crc32, deflateSync } from "node:zlib";
import { decode } from "fast-png";
import { PIXEL_BYTES, type Pixels, transparentPixels } from "./pixels.ts";

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
 * Decodes a PNG with eight bits per channel in colour, with or without alpha: the formats that {@linkcode writePng} and
 * the platform write.
 *
 * @throws {TypeError} For every other format.
 * @throws {Error} If the bytes are not a PNG.
 */
export function readPng(bytes: Uint8Array<ArrayBuffer>): Pixels {
  const { width, height, depth, channels, data } = decode(bytes);
  if (depth !== 8 || channels < 3) throw new TypeError("Unsupported PNG format");
  if (channels === PIXEL_BYTES) return { width, height, data: new Uint8ClampedArray(data) };
  const picture = transparentPixels(width, height);
  picture.data.fill(255);
  for (let from = 0, to = 0; to < picture.data.length; from += channels, to += PIXEL_BYTES) {
    picture.data.set(data.subarray(from, from + channels), to);
  }
  return picture;
}

function chunk(type: string, content: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), content]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(content.length, 0);
  framed.set(body, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}
