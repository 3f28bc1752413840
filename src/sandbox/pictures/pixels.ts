/** A bitmap with four bytes per pixel: red, green, blue, alpha. Rows start at the top. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8ClampedArray<ArrayBuffer>;
}

/** The bytes of a pixel. */
export const PIXEL_BYTES = 4;

/** Creates a transparent picture. */
export function transparentPixels(width: number, height: number): Pixels {
  return { width, height, data: new Uint8ClampedArray(width * height * PIXEL_BYTES) };
}

/** Returns the picture in another size, scaled by nearest neighbour. */
export function scaled(from: Pixels, width: number, height: number): Pixels {
  if (from.width === width && from.height === height) return from;
  const to = transparentPixels(width, height);
  const source = viewOf(from);
  const target = viewOf(to);
  for (let y = 0; y < height; y++) {
    const row = Math.floor(y * from.height / height) * from.width;
    for (let x = 0; x < width; x++) {
      const pixel = source.getUint32((row + Math.floor(x * from.width / width)) * PIXEL_BYTES);
      target.setUint32((y * width + x) * PIXEL_BYTES, pixel);
    }
  }
  return to;
}

/** Places one picture over another. */
export function drawOver(picture: Pixels, left: number, top: number, on: Pixels): void {
  const rowBytes = picture.width * PIXEL_BYTES;
  for (let y = 0; y < picture.height; y++) {
    const row = picture.data.subarray(y * rowBytes, (y + 1) * rowBytes);
    on.data.set(row, ((top + y) * on.width + left) * PIXEL_BYTES);
  }
}

/** Returns a view for reading and writing the bytes of a picture by offset. */
export function viewOf({ data }: Pixels): DataView {
  return new DataView(data.buffer, data.byteOffset, data.byteLength);
}

/** Parses a size such as `1024x768`. The sides are NaN for other text. */
export function sidesOf(size: string): { readonly width: number; readonly height: number } {
  const [width, height] = size.split("x");
  return { width: Number(width), height: Number(height) };
}
