import { GatewayError } from "../../lib/basics/gateway_error.ts";

/** A body may have this many chunks of any size. See docs/limits.md. */
const MAX_SMALL_CHUNKS = 100_000;
/** Those of a body with more chunks have at least this many bytes on average. */
const MIN_AVERAGE_BYTES = 16;

/** Counts the chunks of a body, whose work does not depend on their size. */
export class ChunkCount {
  #chunks = 0;
  #bytes = 0;

  /**
   * Counts a chunk.
   *
   * @throws {GatewayError} `invalid_request` for more than 100,000 chunks of less than 16 bytes on average.
   */
  add(bytes: number): void {
    this.#bytes += bytes;
    if (++this.#chunks <= MAX_SMALL_CHUNKS || this.#bytes >= this.#chunks * MIN_AVERAGE_BYTES) return;
    const limit = `at least ${MIN_AVERAGE_BYTES} bytes in a chunk on average, from ${MAX_SMALL_CHUNKS} chunks on`;
    throw new GatewayError("invalid_request", `Cannot read a body in chunks this small: expected ${limit}`, {
      closeConnection: true,
    });
  }
}
