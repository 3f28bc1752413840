/** A picture as it is painted: four bytes a pixel, red, green, blue, opacity, rows from the top. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8ClampedArray<ArrayBuffer>;
}

/** A picture of nothing. */
export function blank(width: number, height: number): Pixels {
  return { width, height, data: new Uint8ClampedArray(width * height * 4) };
}

/** The same picture in another size, by its nearest pixels. */
export function scaled(from: Pixels, width: number, height: number): Pixels {
  if (from.width === width && from.height === height) return from;
  const to = blank(width, height);
  const source = words(from);
  const target = words(to);
  for (let y = 0; y < height; y++) {
    const row = Math.floor(y * from.height / height) * from.width;
    for (let x = 0; x < width; x++) target[y * width + x] = source[row + Math.floor(x * from.width / width)];
  }
  return to;
}

/** Puts one picture on another, covering what lies there. */
export function place(picture: Pixels, left: number, top: number, on: Pixels): void {
  const source = words(picture);
  const target = words(on);
  for (let y = 0; y < picture.height; y++) {
    const row = source.subarray(y * picture.width, (y + 1) * picture.width);
    target.set(row, (top + y) * on.width + left);
  }
}

/** The pixels as a word each. */
export function words({ data }: Pixels): Uint32Array<ArrayBuffer> {
  return new Uint32Array(data.buffer, data.byteOffset, data.length / 4);
}
