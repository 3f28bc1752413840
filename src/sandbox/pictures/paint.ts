import { createHash } from "node:crypto";
import { blank, type Pixels, place, scaled, words } from "./pixels.ts";

/** What to paint. */
export interface Painting {
  /** The seed: equal texts give equal pictures. */
  readonly prompt: string;
  readonly width: number;
  readonly height: number;
  readonly isTransparent: boolean;
  /** Which of several pictures of one prompt this is, from 0. */
  readonly nth: number;
}

const PALETTE_SIZE = 4;
const OPACITY_BYTE = 3;
const FULL = 0xff000000;

/** Stripes in four colours whose slope, width and colours follow from the prompt. */
export function paint({ prompt, width, height, isTransparent, nth }: Painting): Pixels {
  const seed = createHash("sha256").update(`${nth} ${prompt}`).digest();
  const palette = Array.from({ length: PALETTE_SIZE }, (_, at) => (FULL | seed.readUIntLE(at * 3, 3)) >>> 0);
  if (isTransparent) palette[0] = 0;
  const picture = blank(width, height);
  const target = words(picture);
  const [across, down] = [1 + seed[12] % 7, 1 + seed[13] % 7];
  const shift = 6 + seed[14] % 3;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      target[y * width + x] = palette[((x * across + y * down) >> shift) % PALETTE_SIZE];
    }
  }
  return picture;
}

/** The painting with the references it was given along its lower edge, each a quarter as wide. */
export function paintWithReferences(painting: Painting, references: readonly Pixels[]): Pixels {
  const picture = paint(painting);
  const side = Math.floor(Math.min(painting.width, painting.height) / 4);
  references.slice(0, 4).forEach((reference, at) => {
    const left = Math.min(at * side, picture.width - side);
    place(scaled(reference, side, side), left, picture.height - side, picture);
  });
  return picture;
}

/**
 * The first picture changed: painted over where the mask is transparent, or, without a mask, in a frame around it. The
 * other pictures stand along the upper edge.
 */
export function paintOver(painting: Painting, pictures: readonly Pixels[], mask: Pixels | null): Pixels {
  const { width, height } = painting;
  const fresh = paint(painting);
  const target = words(fresh);
  const first = words(scaled(pictures[0], width, height));
  const opacity = mask && scaled(mask, width, height).data;
  const frame = Math.max(1, Math.floor(Math.min(width, height) / 16));
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const at = y * width + x;
      const isChanged = opacity
        ? opacity[at * 4 + OPACITY_BYTE] === 0
        : x < frame || y < frame || x >= width - frame || y >= height - frame;
      if (!isChanged) target[at] = first[at];
    }
  }
  const side = Math.floor(Math.min(width, height) / 8);
  pictures.slice(1, 5).forEach((picture, at) => place(scaled(picture, side, side), at * side, 0, fresh));
  return fresh;
}
