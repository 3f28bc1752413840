import { Buffer } from "node:buffer";
import type { Hash } from "node:crypto";
import { boundaryOf } from "../../platform/http/bodies/multipart_head.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";

/** Receives the bytes of a body in chunks of any size. */
export interface BodyHash {
  update(bytes: Uint8Array): void;
  /** Ends the body. Called once. */
  digest(): string;
}

/** Forms have at most 64 parts, so the rest of a longer body is hashed as it is. */
const MAX_BOUNDARIES = 1_000;
const CRLF = Buffer.from("\r\n");

/**
 * Continues a hash with a body. Clients choose the boundary of a form at random for each request, so it does not count;
 * every other byte does.
 *
 * @param contentType Of the body. Null for none.
 */
export function bodyHashOf(hash: Hash, contentType: string | null): BodyHash {
  const boundary = boundaryIn(contentType);
  return boundary === null ? new WholeHash(hash) : new FormHash(hash, boundary);
}

function boundaryIn(contentType: string | null): string | null {
  try {
    return boundaryOf(contentType);
  } catch (error) {
    if (error instanceof GatewayError) return null;
    throw error;
  }
}

class WholeHash implements BodyHash {
  constructor(private readonly hash: Hash) {}

  update(bytes: Uint8Array): void {
    this.hash.update(bytes);
  }

  digest(): string {
    return this.hash.digest("base64url");
  }
}

/**
 * Hashes what is between the boundaries, and the length of each such section after it. Read from its end, the hashed
 * text has one meaning, so that no content can stand for a boundary. Source: RFC 2046, 5.1.1.
 */
class FormHash implements BodyHash {
  readonly #delimiter: Buffer;
  #boundaries = 0;
  #sectionBytes = 0;
  /** May be the start of a boundary. The first one has no preceding line end, so one is inserted. */
  #rest: Buffer = CRLF;

  constructor(private readonly hash: Hash, boundary: string) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`);
  }

  update(bytes: Uint8Array): void {
    let rest = Buffer.concat([this.#rest, bytes]);
    while (this.#boundaries < MAX_BOUNDARIES) {
      const at = rest.indexOf(this.#delimiter);
      if (at < 0) break;
      this.#boundaries++;
      this.#add(rest.subarray(0, at));
      this.#endSection();
      rest = rest.subarray(at + this.#delimiter.length);
    }
    const hashed = Math.max(0, rest.length - this.#delimiter.length + 1);
    this.#add(rest.subarray(0, hashed));
    this.#rest = Buffer.from(rest.subarray(hashed)); // a copy, which does not retain the chunk
  }

  digest(): string {
    this.#add(this.#rest);
    this.#endSection();
    return this.hash.digest("base64url");
  }

  #add(bytes: Buffer): void {
    this.hash.update(bytes);
    this.#sectionBytes += bytes.length;
  }

  #endSection(): void {
    const length = Buffer.alloc(8);
    length.writeDoubleBE(this.#sectionBytes);
    this.hash.update(length);
    this.#sectionBytes = 0;
  }
}
