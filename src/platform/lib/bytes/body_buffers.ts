import { freeBytes } from "./free_bytes.ts";

/**
 * Buffers of large request bodies, which are used again. A new buffer of a megabyte is filled with zeros, and the
 * kernel maps its pages again, which takes longer than to receive the body.
 *
 * A buffer belongs to one request at a time. When it is returned, every view of it loses its bytes. Only a write to a
 * socket could still read them, so a buffer that is being written is not used again.
 */

/** The sizes of kept buffers. Other bodies get a buffer of their own length. */
const SIZES = [131_072, 262_144, 524_288, 1_048_576];
const MIN_BYTES = 65_536;
const MAX_IDLE_BYTES_PER_SIZE = 4_194_304;

/** The idle buffers of each size. They are held weakly: a full garbage collection frees them, as after a load. */
const idle = new Map(SIZES.map((size): [number, WeakRef<ArrayBuffer>[]] => [size, []]));

/** The number of writes that are reading a buffer. */
const writes = new Map<ArrayBufferLike, number>();

/**
 * Returns a buffer of at least this length, which may contain bytes of an earlier request. The caller must fill the
 * part that it passes on.
 */
export function takeBodyBuffer(bytes: number): ArrayBuffer {
  const size = bytes < MIN_BYTES ? undefined : SIZES.find((each) => each >= bytes);
  const buffers = size === undefined ? undefined : idle.get(size);
  if (size === undefined || buffers === undefined) return new ArrayBuffer(bytes);
  for (let last = buffers.pop(); last !== undefined; last = buffers.pop()) {
    const buffer = last.deref();
    if (buffer !== undefined) return buffer;
  }
  return new ArrayBuffer(size);
}

/**
 * Returns the buffer of a body, or frees it if it cannot be used again. The body has no bytes afterwards.
 *
 * @param body The only view that is still used. Small bodies stay as they are.
 */
export function returnBodyBuffer(body: Uint8Array<ArrayBuffer>): void {
  const { buffer } = body;
  const buffers = idle.get(buffer.byteLength);
  const isKept = buffers !== undefined && !writes.has(buffer) &&
    buffers.length < MAX_IDLE_BYTES_PER_SIZE / buffer.byteLength;
  if (isKept) buffers.push(new WeakRef(buffer.transfer()));
  else freeBytes(body);
}

/**
 * Keeps a buffer from being used again until a write of it has ended.
 *
 * @param bytes Any part of the buffer.
 */
export function whileWritten<T>(bytes: Uint8Array, writing: Promise<T>): Promise<T> {
  const { buffer } = bytes;
  if (!idle.has(buffer.byteLength)) return writing;
  writes.set(buffer, (writes.get(buffer) ?? 0) + 1);
  const onEnd = () => {
    const left = (writes.get(buffer) ?? 0) - 1;
    if (left > 0) writes.set(buffer, left);
    else writes.delete(buffer);
  };
  writing.then(onEnd, onEnd);
  return writing;
}
