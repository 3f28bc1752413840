import { PIXEL_BYTES, type Pixels, viewOf } from "./pixels.ts";

/**
 * Encodes lossless WebP with sixteen levels per channel, without prediction or back references. The platform cannot
 * encode WebP. Source: WebP Lossless Bitstream Specification (RFC 9649, 3). The reason for not using a library:
 * docs/decisions/0050-picture-files-of-the-sandbox.md.
 */
export function writeWebp(picture: Pixels): Uint8Array<ArrayBuffer> {
  const { width, height } = picture;
  const view = viewOf(picture);
  const hasAlpha = isTransparentSomewhere(view);
  const bits = new BitWriter(64 + width * height * 2);
  bits.write(0x2f, 8);
  bits.write(width - 1, 14);
  bits.write(height - 1, 14);
  bits.write(hasAlpha ? 1 : 0, 1);
  bits.write(0, 3); // version
  bits.write(0, 3); // no transform, no colour cache, one group of codes for the whole picture
  writeLevelCode(bits, GREEN_SYMBOLS);
  writeLevelCode(bits, 256);
  writeLevelCode(bits, 256);
  writeOpacityCode(bits, hasAlpha);
  writeSimpleCode(bits, [0]); // distances: none
  const levelAt = (offset: number) => reversed(view.getUint8(offset) >> 4);
  for (let at = 0; at < view.byteLength; at += PIXEL_BYTES) {
    bits.write(levelAt(at + 1) | levelAt(at) << 4 | levelAt(at + 2) << 8, 12);
    if (hasAlpha) bits.write(view.getUint8(at + 3) >> 7, 1);
  }
  return inContainer(bits.finish());
}

/** 256 levels and 24 lengths of back references. */
const GREEN_SYMBOLS = 280;
/** Codes are read from their first bit, the stream from each byte's lowest bit. */
function reversed(level: number): number {
  return (level & 1) << 3 | (level & 2) << 1 | (level & 4) >> 1 | (level & 8) >> 3;
}

/** Every seventeenth level has a code of four bits. Each length, 0 or 4, is written as one bit. */
function writeLevelCode(bits: BitWriter, symbols: number): void {
  bits.write(0, 1); // not the simple code
  bits.write(3, 4); // seven lengths of length codes follow, in the order 17 18 0 1 2 3 4
  for (const length of [0, 0, 1, 0, 0, 0, 1]) bits.write(length, 3);
  bits.write(0, 1); // the maximum number of symbols
  for (let symbol = 0; symbol < symbols; symbol++) bits.write(symbol < 256 && symbol % 17 === 0 ? 1 : 0, 1);
}

function writeOpacityCode(bits: BitWriter, hasAlpha: boolean): void {
  writeSimpleCode(bits, hasAlpha ? [0, 255] : [255]);
}

function writeSimpleCode(bits: BitWriter, symbols: readonly number[]): void {
  bits.write(1, 1);
  bits.write(symbols.length - 1, 1);
  bits.write(1, 1); // the first symbol has eight bits
  for (const symbol of symbols) bits.write(symbol, 8);
}

function isTransparentSomewhere(view: DataView): boolean {
  for (let at = 3; at < view.byteLength; at += PIXEL_BYTES) if (view.getUint8(at) < 128) return true;
  return false;
}

function inContainer(stream: Uint8Array): Uint8Array<ArrayBuffer> {
  const padded = stream.length + stream.length % 2;
  const file = new Uint8Array(20 + padded);
  const view = new DataView(file.buffer);
  const encoder = new TextEncoder();
  encoder.encodeInto("RIFF", file);
  view.setUint32(4, 12 + padded, true);
  encoder.encodeInto("WEBPVP8L", file.subarray(8));
  view.setUint32(16, stream.length, true);
  file.set(stream, 20);
  return file;
}

/** Packs bits into bytes, lowest bit first. */
class BitWriter {
  readonly #bytes: Uint8Array;
  #at = 0;
  #pending = 0;
  #count = 0;

  constructor(mostBytes: number) {
    this.#bytes = new Uint8Array(mostBytes + 1024);
  }

  write(value: number, bits: number): void {
    this.#pending |= value << this.#count;
    this.#count += bits;
    while (this.#count >= 8) {
      this.#bytes[this.#at++] = this.#pending & 0xff;
      this.#pending >>>= 8;
      this.#count -= 8;
    }
  }

  finish(): Uint8Array {
    if (this.#count > 0) this.#bytes[this.#at++] = this.#pending & 0xff;
    return this.#bytes.subarray(0, this.#at);
  }
}
