import { pass } from "../chunk_stream.ts";
import type { Call } from "../call.ts";
import { type Directives, readDirectives, type Vendor } from "../directives.ts";
import { Refusal } from "../refusal.ts";
import { type PictureFormat, type ReadPicture, writePicture } from "./file.ts";
import { paint, type Painting, paintOver, paintWithReferences } from "./paint.ts";
import { type Pixels, scaled } from "./pixels.ts";

/** A request for pictures whose form is in order. */
export interface PictureOrder {
  readonly prompt: string;
  /** Pixels. */
  readonly width: number;
  /** Pixels. */
  readonly height: number;
  readonly count: number;
  readonly format: PictureFormat;
  readonly isTransparent: boolean;
  readonly references: readonly ReadPicture[];
  /** Null for new pictures; for changed ones, whether there is a mask. */
  readonly change: { readonly mask: ReadPicture | null } | null;
}

/** A picture that was painted. */
export interface MadePicture {
  readonly pixels: Pixels;
  readonly base64: string;
}

/** How much coarser an unfinished picture is. */
const SKETCH = 16;

/**
 * Carries out what a prompt directs before there is an answer: waits, then fails.
 *
 * @param usualMessage What the vendor says with a status when nothing else is ordered.
 * @returns The directives that are left, or an answer that is no vendor's.
 */
export async function obey(
  call: Call,
  prompt: string,
  vendor: Vendor,
  usualMessage: (status: number) => string,
): Promise<Directives | Response> {
  const directives = readDirectives(prompt, vendor);
  const { stallMs, fail, flaky, html } = directives;
  if (stallMs > 0) await pass(call.world.clock, stallMs, call.gone);
  if (call.gone.aborted) call.leave();
  if (fail !== null) {
    const { status, message, retryAfterSeconds } = fail;
    throw new Refusal(status, message ?? usualMessage(status), { retryAfterSeconds: retryAfterSeconds ?? undefined });
  }
  if (flaky > 0 && call.world.attemptsOf(prompt) <= flaky) throw new Refusal(503, usualMessage(503));
  if (!html) return directives;
  return new Response("<!doctype html><h1>Bad gateway</h1>", { headers: { "content-type": "text/html" } });
}

/** Paints and writes the pictures of an order. */
export async function makePictures(order: PictureOrder): Promise<MadePicture[]> {
  const made: MadePicture[] = [];
  for (let nth = 0; nth < order.count; nth++) made.push(await madeAt(order, nth));
  return made;
}

/** Paints and writes one picture. */
export async function makePicture(order: Omit<PictureOrder, "count">): Promise<MadePicture> {
  return await madeAt(order, 0);
}

async function madeAt(order: Omit<PictureOrder, "count">, nth: number): Promise<MadePicture> {
  const pixels = painted(order, nth);
  return { pixels, base64: (await writePicture(pixels, order.format)).toBase64() };
}

/** An unfinished picture: the finished one, coarser. */
export async function sketchOf({ pixels }: MadePicture, format: PictureFormat): Promise<string> {
  const { width, height } = pixels;
  const coarse = scaled(pixels, Math.ceil(width / SKETCH), Math.ceil(height / SKETCH));
  return (await writePicture(scaled(coarse, width, height), format)).toBase64();
}

function painted({ references, change, ...order }: Omit<PictureOrder, "count">, nth: number): Pixels {
  const painting: Painting = { ...order, nth };
  const pictures = references.map(({ pixels }) => pixels);
  if (change !== null) return paintOver(painting, pictures, change.mask?.pixels ?? null);
  return pictures.length === 0 ? paint(painting) : paintWithReferences(painting, pictures);
}
