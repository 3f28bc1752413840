import type { Pixels } from "./pixels.ts";
import { readPng, writePng } from "./png.ts";
import { writeWebp } from "./webp.ts";

/** The file formats that can be written. */
export type SimulatedImageFormat = "png" | "jpeg" | "webp";

const MAX_READ_PIXELS = 1024;

/** Encodes a picture as a file. */
export async function encodeImage(picture: Pixels, format: SimulatedImageFormat): Promise<Uint8Array<ArrayBuffer>> {
  switch (format) {
    case "png":
      return writePng(picture);
    case "webp":
      return writeWebp(picture);
    case "jpeg": {
      const canvas = canvasOf(await createImageBitmap(new ImageData(picture.data, picture.width, picture.height)));
      return (await canvas.convertToBlob({ type: "image/jpeg" })).bytes();
    }
  }
}

/** A decoded file and the size of its picture. The pixels are reduced if the size is above 1,024. */
export interface DecodedImage {
  readonly width: number;
  readonly height: number;
  readonly pixels: Pixels;
}

/** Decodes a picture file of any format that the platform supports. Returns null for anything else. */
export async function decodeImage(bytes: Uint8Array<ArrayBuffer>, type: string): Promise<DecodedImage | null> {
  try {
    const whole = await createImageBitmap(new Blob([bytes], { type }));
    const { width, height } = whole;
    const scale = Math.min(1, MAX_READ_PIXELS / Math.max(width, height));
    const size = { resizeWidth: Math.ceil(width * scale), resizeHeight: Math.ceil(height * scale) };
    const bitmap = scale < 1 ? await createImageBitmap(whole, size) : whole;
    const png = await canvasOf(bitmap).convertToBlob({ type: "image/png" });
    return { width, height, pixels: readPng(await png.bytes()) };
  } catch {
    return null; // the platform reports no reason
  }
}

function canvasOf(bitmap: ImageBitmap): OffscreenCanvas {
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
  canvas.getContext("bitmaprenderer")!.transferFromImageBitmap(bitmap);
  return canvas;
}
