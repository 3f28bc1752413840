import { createHash } from "node:crypto";

/** The content of a stored file is not the one that was stored. */
export class ChangedContentError extends Error {
  override readonly name = "ChangedContentError";
}

/**
 * Yields a content and compares its hash and its size with those of its record. The last chunk is yielded after the
 * comparison, so a reader never gets a changed content as a whole.
 *
 * @throws {ChangedContentError} Before the last chunk.
 */
export async function* verified(
  chunks: AsyncIterable<Uint8Array<ArrayBuffer>>,
  { sha256, bytes }: { readonly sha256: string; readonly bytes: number },
): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
  const hash = createHash("sha256");
  let last: Uint8Array<ArrayBuffer> | null = null;
  let length = 0;
  for await (const chunk of chunks) {
    if (last !== null) yield last;
    hash.update(chunk);
    length += chunk.length;
    last = chunk;
  }
  if (length !== bytes || hash.digest("hex") !== sha256) {
    throw new ChangedContentError("The content of the file is not the one that was stored");
  }
  if (last !== null) yield last;
}
