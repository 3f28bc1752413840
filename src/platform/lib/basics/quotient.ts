/**
 * Returns width divided by height, of a ratio such as `16:9` or `19.5:9`, or of a size such as `2048x2048`; NaN for
 * other text.
 */
export function quotientOf(shape: string): number {
  const [width, height] = shape.split(/[:x]/);
  return Number(width) / Number(height);
}
