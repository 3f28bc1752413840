import { type Pixels, scaled } from "./pixels.ts";

/** Rectangles in each direction. */
const SIDE = 12;

/** Draws a picture as rectangles. Source: SVG 2, "Basic shapes". */
export function writeSvg(picture: Pixels): string {
  const { width, height } = picture;
  const { data } = scaled(picture, SIDE, SIDE);
  const shapes = Array.from({ length: SIDE * SIDE }, (_, at) => {
    const [red = 0, green = 0, blue = 0] = data.subarray(at * 4, at * 4 + 3);
    const fill = `#${[red, green, blue].map((value) => value.toString(16).padStart(2, "0")).join("")}`;
    return `<rect x="${at % SIDE}" y="${Math.floor(at / SIDE)}" width="1" height="1" fill="${fill}"/>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ` +
    `viewBox="0 0 ${SIDE} ${SIDE}" preserveAspectRatio="none">${shapes.join("")}</svg>\n`;
}
