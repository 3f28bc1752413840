import { delay } from "../chunk_stream.ts";
import type { Call } from "../call.ts";
import { type Directives, readDirectives, type Vendor } from "../directives.ts";
import { SimulatedError } from "../simulated_error.ts";
import { type DecodedImage, encodeImage, type SimulatedImageFormat } from "./file.ts";
import { paint, type Painting, paintOver, paintWithReferences } from "./paint.ts";
import { type Pixels, scaled } from "./pixels.ts";

/** A valid request for pictures. */
export interface SimulatedImageRequest {
  readonly prompt: string;
  /** In pixels. */
  readonly width: number;
  /** In pixels. */
  readonly height: number;
  readonly count: number;
  readonly format: SimulatedImageFormat;
  readonly isTransparent: boolean;
  readonly references: readonly DecodedImage[];
  /** Null for new pictures. For edited ones, the mask if there is one. */
  readonly change: { readonly mask: DecodedImage | null } | null;
}

/** A picture that was painted. */
export interface SimulatedImage {
  readonly pixels: Pixels;
  readonly base64: string;
}

/** The reduction factor of an unfinished picture. */
const SKETCH = 16;

/**
 * Follows the directives that apply before the response: it waits, then fails.
 *
 * @param usualMessage Returns the vendor's default message for a status.
 * @returns The remaining directives, or a response unlike any vendor's.
 */
export async function followDirectives(
  call: Call,
  prompt: string,
  vendor: Vendor,
  defaultMessage: (status: number) => string,
): Promise<Directives | Response> {
  const directives = readDirectives(prompt, vendor);
  const { stallMs, fail, flaky, html } = directives;
  if (stallMs > 0) await delay(call.vendors.clock, stallMs, call.signal);
  if (call.signal.aborted) call.onDisconnect();
  if (fail !== null) {
    const { status, message, retryAfterSeconds } = fail;
    throw new SimulatedError(status, message ?? defaultMessage(status), {
      retryAfterSeconds: retryAfterSeconds ?? undefined,
    });
  }
  if (flaky > 0 && call.vendors.attemptsOf(prompt) <= flaky) throw new SimulatedError(503, defaultMessage(503));
  if (!html) return directives;
  return new Response("<!doctype html><h1>Bad gateway</h1>", { headers: { "content-type": "text/html" } });
}

/** Paints and encodes the requested pictures. */
export async function simulateImages(order: SimulatedImageRequest): Promise<SimulatedImage[]> {
  const made: SimulatedImage[] = [];
  for (let nth = 0; nth < order.count; nth++) made.push(await madeAt(order, nth));
  return made;
}

/** Paints and encodes one picture. */
export async function simulateImage(order: Omit<SimulatedImageRequest, "count">): Promise<SimulatedImage> {
  return await madeAt(order, 0);
}

async function madeAt(order: Omit<SimulatedImageRequest, "count">, nth: number): Promise<SimulatedImage> {
  const pixels = painted(order, nth);
  return { pixels, base64: (await encodeImage(pixels, order.format)).toBase64() };
}

/** Returns an unfinished picture: the finished one at a lower resolution. */
export async function draftOf({ pixels }: SimulatedImage, format: SimulatedImageFormat): Promise<string> {
  const { width, height } = pixels;
  const coarse = scaled(pixels, Math.ceil(width / SKETCH), Math.ceil(height / SKETCH));
  return (await encodeImage(scaled(coarse, width, height), format)).toBase64();
}

function painted({ references, change, ...order }: Omit<SimulatedImageRequest, "count">, nth: number): Pixels {
  const painting: Painting = { ...order, nth };
  const pictures = references.map(({ pixels }) => pixels);
  if (change !== null) return paintOver(painting, pictures, change.mask?.pixels ?? null);
  return pictures.length === 0 ? paint(painting) : paintWithReferences(painting, pictures);
}
