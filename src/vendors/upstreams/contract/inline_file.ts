import { concatBytes } from "../../../platform/lib/bytes/concat_bytes.ts";
import type { ImageSource } from "./image_upstream.ts";
import type { OutboundBody } from "../call/outbound_body.ts";

/** The bytes of an image, a sound or a video. */
export type InlineSource = Pick<ImageSource, "mediaType" | "lengthBytes" | "open">;

/** A file in a JSON value, written as base64 text while the body is sent. */
export class InlineFile {
  /**
   * Names a file, which is read when the body is sent.
   *
   * @param prefix The text before the base64, such as `data:image/png;base64,`. ASCII only.
   */
  constructor(
    /** The bytes. */
    readonly source: InlineSource,
    /** The text before the base64. */
    readonly prefix: string,
  ) {}
}

/** Returns the image as a `data:` URI (RFC 2397). */
export function dataUriOf(image: InlineSource): InlineFile {
  return new InlineFile(image, `data:${image.mediaType};base64,`);
}

/** Returns the file as base64 without a prefix. */
export function base64Of(source: InlineSource): InlineFile {
  return new InlineFile(source, "");
}

const encoder = new TextEncoder();
/** A multiple of three, so that the base64 of the pieces can be concatenated without padding. */
const MAX_CHUNK_BYTES = 49_152;

/**
 * Creates a JSON body in which each {@linkcode InlineFile} is a string. Files are read, encoded and sent in pieces,
 * so that they are never completely in memory.
 *
 * @param value As for `JSON.stringify`.
 */
export function jsonBody(value: object): OutboundBody {
  const files: InlineFile[] = [];
  // Random, so that no part of the value can contain it.
  const placeholder = crypto.randomUUID();
  const text = JSON.stringify(value, (_, part) => {
    if (!(part instanceof InlineFile)) return part;
    files.push(part);
    return placeholder;
  });
  const segments = text.split(placeholder).map((segment, nth) => encoder.encode(segment + (files[nth]?.prefix ?? "")));
  return {
    contentType: "application/json",
    lengthBytes: segments.reduce((sum, { length }) => sum + length, 0) +
      files.reduce((sum, { source }) => sum + Math.ceil(source.lengthBytes / 3) * 4, 0),
    async *open() {
      for (const [nth, segment] of segments.entries()) {
        yield segment;
        const inline = files[nth];
        if (inline !== undefined) yield* encodeBase64(inline.source.open());
      }
    },
  };
}

/** Encodes bytes as base64, for chunks of any length. */
async function* encodeBase64(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let rest: Uint8Array = new Uint8Array(0);
  for await (const chunk of bytes) {
    for (let at = 0; at < chunk.length; at += MAX_CHUNK_BYTES) {
      const part = chunk.subarray(at, at + MAX_CHUNK_BYTES);
      const bytesSoFar = rest.length === 0 ? part : concatBytes([rest, part]);
      const wholeTriples = bytesSoFar.length - bytesSoFar.length % 3;
      if (wholeTriples > 0) yield encoder.encode(bytesSoFar.subarray(0, wholeTriples).toBase64());
      rest = bytesSoFar.slice(wholeTriples);
    }
  }
  if (rest.length > 0) yield encoder.encode(rest.toBase64());
}
