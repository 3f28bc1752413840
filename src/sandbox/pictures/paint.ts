import { createHash } from "node:crypto";
import { drawOver, PIXEL_BYTES, type Pixels, scaled, transparentPixels, viewOf } from "./pixels.ts";

/** A picture to paint. */
export interface Painting {
  /** The seed: equal texts give equal pictures. */
  readonly prompt: string;
  readonly width: number;
  readonly height: number;
  readonly isTransparent: boolean;
  /** The index of the picture among those of one prompt, from 0. */
  readonly nth: number;
}

const PALETTE_SIZE = 4;
const OPACITY_BYTE = 3;
const FULL = 0xff000000;

/** Paints stripes in four colours. Slope, width and colours follow from the prompt. */
export function paint({ prompt, width, height, isTransparent, nth }: Painting): Pixels {
  const seed = createHash("sha256").update(`${nth} ${prompt}`).digest();
  const palette = viewOf(transparentPixels(PALETTE_SIZE, 1));
  for (let at = isTransparent ? 1 : 0; at < PALETTE_SIZE; at++) {
    palette.setUint32(at * PIXEL_BYTES, FULL | seed.readUIntLE(at * 3, 3), true);
  }
  const picture = transparentPixels(width, height);
  const target = viewOf(picture);
  const [across, down] = [1 + seed.readUInt8(12) % 7, 1 + seed.readUInt8(13) % 7];
  const shift = 6 + seed.readUInt8(14) % 3;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const colour = palette.getUint32(((x * across + y * down) >> shift) % PALETTE_SIZE * PIXEL_BYTES);
      target.setUint32((y * width + x) * PIXEL_BYTES, colour);
    }
  }
  return picture;
}

/** Paints a picture with its references along the lower edge, each a quarter as wide. */
export function paintWithReferences(painting: Painting, references: readonly Pixels[]): Pixels {
  const picture = paint(painting);
  const side = Math.floor(Math.min(painting.width, painting.height) / 4);
  references.slice(0, 4).forEach((reference, at) => {
    const left = Math.min(at * side, picture.width - side);
    drawOver(scaled(reference, side, side), left, picture.height - side, picture);
  });
  return picture;
}

/**
 * Edits the first picture. It is painted over where the mask is transparent, or in a frame if there is no mask. The
 * other pictures are placed along the upper edge.
 */
export function paintOver(painting: Painting, pictures: readonly Pixels[], mask: Pixels | null): Pixels {
  const { width, height } = painting;
  const fresh = paint(painting);
  const [original, ...others] = pictures;
  if (original === undefined) return fresh;
  const target = viewOf(fresh);
  const source = viewOf(scaled(original, width, height));
  const opacity = mask && scaled(mask, width, height).data;
  const frame = Math.max(1, Math.floor(Math.min(width, height) / 16));
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const at = (y * width + x) * PIXEL_BYTES;
      const isChanged = opacity
        ? opacity[at + OPACITY_BYTE] === 0
        : x < frame || y < frame || x >= width - frame || y >= height - frame;
      if (!isChanged) target.setUint32(at, source.getUint32(at));
    }
  }
  const side = Math.floor(Math.min(width, height) / 8);
  others.slice(0, 4).forEach((picture, at) => drawOver(scaled(picture, side, side), at * side, 0, fresh));
  return fresh;
}
