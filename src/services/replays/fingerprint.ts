import { createHash } from "node:crypto";
import { type BodyLimits, chunksOf } from "../../platform/http/bodies/body.ts";
import type { Inbound } from "../../platform/http/request/inbound.ts";
import { outputStream } from "../../platform/lib/streams/output_stream.ts";
import { type BodyHash, bodyHashOf } from "./form_hash.ts";

/** Starts the hash of what a request asks for: its path, and its query without a credential. The body follows. */
function startHash({ path, query, request, headers = request.headers }: Inbound): BodyHash {
  const parameters = new URLSearchParams(query);
  parameters.delete("key");
  const hash = createHash("sha256").update(`${path}\n${parameters}\n`);
  return bodyHashOf(hash, headers.get("content-type"));
}

/**
 * Hashes a request without keeping its body.
 *
 * @throws {GatewayError} As `chunksOf`.
 */
export async function fingerprintOf(inbound: Inbound, limits: BodyLimits): Promise<string> {
  const hash = startHash(inbound);
  for await (const chunk of chunksOf(inbound.request, limits)) hash.update(chunk);
  return hash.digest();
}

/** The body of a request, hashed while its handler reads it. */
export class HashedBody {
  readonly #hash: BodyHash;
  readonly #chunks: AsyncGenerator<Uint8Array<ArrayBuffer>, void>;
  #isWhole = false;

  constructor(inbound: Inbound, limits: BodyLimits) {
    this.#hash = startHash(inbound);
    this.#chunks = chunksOf(inbound.request, limits);
  }

  /** The body for the handler. */
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>> = outputStream({
    pull: async (output) => {
      const { done, value } = await this.#next();
      if (done || value === undefined) output.close();
      else output.enqueue(value);
    },
  }, { highWaterMark: 0 });

  /** The hash of the request. Reads what the handler has left. Null if the body cannot be read to its end. */
  async finish(): Promise<string | null> {
    try {
      while (!this.#isWhole) await this.#next();
      return this.#hash.digest();
    } catch {
      return null;
    }
  }

  /** Discards what was not read. */
  async drop(): Promise<void> {
    await this.#chunks.return().catch(() => {}); // the error belongs to the reader
  }

  async #next(): Promise<IteratorResult<Uint8Array<ArrayBuffer>, void>> {
    const read = await this.#chunks.next();
    if (read.done) this.#isWhole = true;
    else this.#hash.update(read.value);
    return read;
  }
}
