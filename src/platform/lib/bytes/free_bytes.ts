/** Smaller buffers are left to the garbage collector, which frees them at no cost of their own. */
const MIN_FREED_BYTES = 65_536;

/**
 * Frees a large buffer at once; it has no bytes afterwards. The memory of buffers counts towards V8's limit for memory
 * outside its heap, and each time the limit is reached V8 collects the whole heap.
 *
 * @param bytes The only view of its buffer that is still used.
 */
export function freeBytes(bytes: Uint8Array<ArrayBuffer>): void {
  if (bytes.length >= MIN_FREED_BYTES) bytes.buffer.transfer(0);
}
