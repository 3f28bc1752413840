import type { Pixels } from "./pixels.ts";

/** How an animation plays. */
export interface Animation {
  /** At least 1. */
  readonly frames: number;
  /** Milliseconds of each frame, in tens. */
  readonly frameMs: number;
}

/** Shades of red, green and blue: six of each, so that 216 of the 256 colors are used. */
const SHADES = 6;
const COLORS = 256;
const COLOR_BITS = 8;
const CLEAR = 256;
const END = 257;
const MAX_CODES = 4096;
/** Frames after the first change this square only. */
const MARK_PIXELS = 16;
const MAX_BLOCK_BYTES = 255;

/**
 * Encodes an endless animation: the picture, and in each frame a square at another place. Source: GIF89a specification.
 */
export function writeGif(picture: Pixels, { frames, frameMs }: Animation): Uint8Array<ArrayBuffer> {
  const { width, height } = picture;
  const out = new Bytes();
  out.text("GIF89a");
  out.short(width);
  out.short(height);
  out.bytes(0xf7, 0, 0, ...palette());
  out.bytes(0x21, 0xff, 11);
  out.text("NETSCAPE2.0");
  out.bytes(3, 1, 0, 0, 0);
  addFrame(out, { left: 0, top: 0, width, height, colors: colorsOf(picture) }, frameMs);
  const side = Math.min(MARK_PIXELS, width, height);
  for (let nth = 1; nth < frames; nth++) {
    const left = Math.floor((width - side) * nth / frames);
    const colors = new Uint8Array(side * side).fill((nth * 37) % (SHADES ** 3));
    addFrame(out, { left, top: height - side, width: side, height: side, colors }, frameMs);
  }
  out.bytes(0x3b);
  return out.joined();
}

/** A part of the screen with the colors of its pixels. */
interface Area {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly colors: Uint8Array;
}

function addFrame(out: Bytes, { left, top, width, height, colors }: Area, frameMs: number): void {
  out.bytes(0x21, 0xf9, 4, 4);
  out.short(Math.round(frameMs / 10));
  out.bytes(0, 0, 0x2c);
  for (const each of [left, top, width, height]) out.short(each);
  out.bytes(0, COLOR_BITS);
  const data = compressed(colors);
  for (let at = 0; at < data.length; at += MAX_BLOCK_BYTES) {
    const block = data.subarray(at, at + MAX_BLOCK_BYTES);
    out.bytes(block.length);
    out.add(block);
  }
  out.bytes(0);
}

function palette(): number[] {
  const shade = (index: number) => Math.round(index * 255 / (SHADES - 1));
  return Array.from({ length: COLORS }, (_, color) => [
    shade(Math.floor(color / SHADES ** 2) % SHADES),
    shade(Math.floor(color / SHADES) % SHADES),
    shade(color % SHADES),
  ]).flat();
}

function colorsOf({ data }: Pixels): Uint8Array {
  const colors = new Uint8Array(data.length / 4);
  const shade = (value: number) => Math.round(value * (SHADES - 1) / 255);
  for (let at = 0; at < colors.length; at++) {
    const [red = 0, green = 0, blue = 0] = data.subarray(at * 4, at * 4 + 3);
    colors[at] = shade(red) * SHADES ** 2 + shade(green) * SHADES + shade(blue);
  }
  return colors;
}

/** LZW with codes of 9 to 12 bits, the lowest bit first. */
function compressed(colors: Uint8Array): Uint8Array {
  const out = new BitWriter();
  const next = new Int16Array(MAX_CODES * COLORS);
  let codes = MAX_CODES;
  let bits = COLOR_BITS + 1;
  const clear = () => {
    out.add(CLEAR, bits);
    next.fill(0);
    codes = END + 1;
    bits = COLOR_BITS + 1;
  };
  clear();
  let prefix = -1;
  for (const color of colors) {
    if (prefix < 0) {
      prefix = color;
      continue;
    }
    const known = next[prefix * COLORS + color] ?? 0;
    if (known !== 0) {
      prefix = known;
      continue;
    }
    out.add(prefix, bits);
    if (codes === MAX_CODES) clear();
    else {
      if (codes === 1 << bits) bits++;
      next[prefix * COLORS + color] = codes++;
    }
    prefix = color;
  }
  if (prefix >= 0) out.add(prefix, bits);
  out.add(END, bits);
  return out.joined();
}

class Bytes {
  readonly #parts: Uint8Array[] = [];

  add(part: Uint8Array): void {
    this.#parts.push(part);
  }

  bytes(...values: number[]): void {
    this.add(Uint8Array.from(values));
  }

  short(value: number): void {
    this.bytes(value & 0xff, value >> 8);
  }

  text(text: string): void {
    this.add(new TextEncoder().encode(text));
  }

  joined(): Uint8Array<ArrayBuffer> {
    const whole = new Uint8Array(this.#parts.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const part of this.#parts) {
      whole.set(part, at);
      at += part.length;
    }
    return whole;
  }
}

class BitWriter {
  #bytes = new Uint8Array(65_536);
  #length = 0;
  #pending = 0;
  #pendingBits = 0;

  add(code: number, bits: number): void {
    this.#pending |= code << this.#pendingBits;
    this.#pendingBits += bits;
    while (this.#pendingBits >= 8) this.#push();
  }

  joined(): Uint8Array {
    if (this.#pendingBits > 0) this.#push();
    return this.#bytes.subarray(0, this.#length);
  }

  #push(): void {
    if (this.#length === this.#bytes.length) {
      const longer = new Uint8Array(this.#length * 2);
      longer.set(this.#bytes);
      this.#bytes = longer;
    }
    this.#bytes[this.#length++] = this.#pending & 0xff;
    this.#pending >>= 8;
    this.#pendingBits = Math.max(0, this.#pendingBits - 8);
  }
}
