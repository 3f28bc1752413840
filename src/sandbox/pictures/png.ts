import { crc32, deflateSync, inflateSync } from "node:zlib";
import { Buffer } from "node:buffer";
import { blank, PIXEL_BYTES, type Pixels } from "./pixels.ts";

const SIGNATURE = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
/** Eight bits a channel, colour with opacity, nothing special. */
const FORM = [8, 6, 0, 0, 0];

/** Writes a PNG. Source: PNG specification, third edition. */
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
 * Reads a PNG of the form that {@linkcode writePng} and the platform write, or the same without opacity.
 *
 * @throws {TypeError} For every other form.
 */
export function readPng(bytes: Uint8Array<ArrayBuffer>): Pixels {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const [width, height] = [file.readUInt32BE(16), file.readUInt32BE(20)];
  const [depth, colour, , , interlaced] = file.subarray(24, 29);
  if (depth !== 8 || (colour !== 6 && colour !== 2) || interlaced !== 0) throw new TypeError("Cannot read this PNG");
  const pixelBytes = colour === 6 ? 4 : 3;
  const rows = unfiltered(inflateSync(contentOf(file)), width * pixelBytes, height, pixelBytes);
  const picture = blank(width, height);
  for (let from = 0, to = 0; to < picture.data.length; from += pixelBytes, to += PIXEL_BYTES) {
    picture.data.set(rows.subarray(from, from + pixelBytes), to);
    if (pixelBytes === 3) picture.data[to + 3] = 255;
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

function contentOf(file: Buffer): Buffer {
  const pieces: Buffer[] = [];
  for (let at = SIGNATURE.length; at + 8 <= file.length;) {
    const length = file.readUInt32BE(at);
    if (file.toString("latin1", at + 4, at + 8) === "IDAT") pieces.push(file.subarray(at + 8, at + 8 + length));
    at += length + 12;
  }
  return Buffer.concat(pieces);
}

/** Undoes the filters of each row. Source: PNG specification, 9.2. */
function unfiltered(coded: Buffer, rowBytes: number, height: number, pixelBytes: number): Uint8Array {
  const source = new DataView(coded.buffer, coded.byteOffset, coded.byteLength);
  const rows = new DataView(new ArrayBuffer(rowBytes * height));
  for (let y = 0; y < height; y++) {
    const start = y * (rowBytes + 1);
    const filter = source.getUint8(start);
    for (let x = 0; x < rowBytes; x++) {
      const at = y * rowBytes + x;
      const left = x >= pixelBytes ? rows.getUint8(at - pixelBytes) : 0;
      const up = y > 0 ? rows.getUint8(at - rowBytes) : 0;
      const corner = x >= pixelBytes && y > 0 ? rows.getUint8(at - rowBytes - pixelBytes) : 0;
      rows.setUint8(at, source.getUint8(start + 1 + x) + predicted(filter, left, up, corner));
    }
  }
  return new Uint8Array(rows.buffer);
}

function predicted(filter: number, left: number, up: number, corner: number): number {
  switch (filter) {
    case 1:
      return left;
    case 2:
      return up;
    case 3:
      return (left + up) >> 1;
    case 4:
      return nearest(left, up, corner);
    default:
      return 0;
  }
}

/** Whichever of the three neighbours is nearest to left + up - corner. */
function nearest(left: number, up: number, corner: number): number {
  const toLeft = Math.abs(up - corner);
  const toUp = Math.abs(left - corner);
  const toCorner = Math.abs(left + up - 2 * corner);
  if (toLeft <= toUp && toLeft <= toCorner) return left;
  return toUp <= toCorner ? up : corner;
}
