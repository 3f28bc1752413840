/**
 * The buffer of bytes if it contains nothing else, otherwise a copy. Small arrays share a buffer, which must not move
 * to another thread.
 */
export function ownBufferOf(bytes: Uint8Array<ArrayBuffer>): ArrayBuffer {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes.buffer : new Uint8Array(bytes).buffer;
}
