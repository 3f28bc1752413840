import { concatBytes } from "../lib/concat_bytes.ts";
import type { ImageSource } from "./image_upstream.ts";
import type { OutboundBody } from "./outbound_body.ts";

/** An image in a JSON value, written as base64 text while the body is sent. */
export class InlineImage {
  /** @param prefix The text before the base64, such as `data:image/png;base64,`. ASCII only. */
  constructor(readonly image: ImageSource, readonly prefix: string) {}
}

/** Returns the image as a `data:` URI (RFC 2397). */
export function dataUriOf(image: ImageSource): InlineImage {
  return new InlineImage(image, `data:${image.mediaType};base64,`);
}

/** Returns the image as base64 without a prefix. */
export function base64Of(image: ImageSource): InlineImage {
  return new InlineImage(image, "");
}

const encoder = new TextEncoder();
/** A multiple of three, so that the base64 of the pieces can be concatenated without padding. */
const PIECE_BYTES = 49_152;

/**
 * Creates a JSON body in which each {@linkcode InlineImage} is a string. Images are read, encoded and sent in pieces,
 * so that they are never completely in memory.
 *
 * @param value As for `JSON.stringify`.
 */
export function jsonBody(value: object): OutboundBody {
  const images: InlineImage[] = [];
  // Random, so that no part of the value can contain it.
  const mark = crypto.randomUUID();
  const text = JSON.stringify(value, (_, part) => {
    if (!(part instanceof InlineImage)) return part;
    images.push(part);
    return mark;
  });
  const texts = text.split(mark).map((between, nth) => encoder.encode(between + (images[nth]?.prefix ?? "")));
  return {
    contentType: "application/json",
    lengthBytes: texts.reduce((sum, { length }) => sum + length, 0) +
      images.reduce((sum, { image }) => sum + Math.ceil(image.lengthBytes / 3) * 4, 0),
    async *open() {
      for (const [nth, between] of texts.entries()) {
        yield between;
        const placed = images[nth];
        if (placed !== undefined) yield* encoded(placed.image.open());
      }
    },
  };
}

/** Encodes bytes as base64, for chunks of any length. */
async function* encoded(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let rest: Uint8Array = new Uint8Array(0);
  for await (const chunk of bytes) {
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
      const piece = chunk.subarray(at, at + PIECE_BYTES);
      const known = rest.length === 0 ? piece : concatBytes([rest, piece]);
      const usable = known.length - known.length % 3;
      if (usable > 0) yield encoder.encode(known.subarray(0, usable).toBase64());
      rest = known.slice(usable);
    }
  }
  if (rest.length > 0) yield encoder.encode(rest.toBase64());
}
