import { Buffer } from "node:buffer";
import { randomUUID } from "node:crypto";
import type { ByteCipher } from "../../platform/lib/bytes/byte_cipher.ts";
import { IDEMPOTENCY_MS } from "../../platform/http/request/idempotency_key.ts";
import { concatBytes } from "../../platform/lib/bytes/concat_bytes.ts";
import { outputStream } from "../../platform/lib/streams/output_stream.ts";
import type { Key, Store } from "../../platform/store/store.ts";
import { replyPartKey, type StoredReply } from "./records.ts";

/** The head of a reply. */
export interface ReplyHead {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
}

/** The dependencies of stored replies. */
export interface StoredReplyParts {
  readonly store: Pick<Store, "get" | "commit">;
  readonly cipher: ByteCipher;
}

/** Below the size of a value that every store takes. */
const PART_BYTES = 48 * 1024;
/** The parts that are written, or read, at once. */
const PARTS_AT_ONCE = 10;
/** Parts outlast the record that names them. */
const TTL_MS = IDEMPOTENCY_MS + 3_600_000;
const LENGTH_BYTES = 4;

/**
 * Stores a reply, encrypted, in parts: the length of its head, the head as JSON, and the body. Rejects as the store
 * does; some parts may then be stored, until they expire.
 */
export async function storeReply(
  account: string,
  head: ReplyHead,
  body: readonly Uint8Array[],
  { store, cipher }: StoredReplyParts,
): Promise<StoredReply> {
  const id = randomUUID();
  const pieces = piecesOf([...headBytes(head), ...body]);
  for (let start = 0; start < pieces.length; start += PARTS_AT_ONCE) {
    const set = pieces.slice(start, start + PARTS_AT_ONCE).map((piece, n) => ({
      key: replyPartKey(account, id, start + n),
      value: cipher.encrypt(concatBytes(piece), contextOf(id, start + n)),
      ttlMs: TTL_MS,
    }));
    const written = await store.commit(null, { set });
    if (!written.ok) throw new Error("The parts of a reply were not written");
  }
  return { id, parts: pieces.length };
}

/** A reply that is read again. */
export interface ReadReply {
  readonly head: ReplyHead;
  /** Reads the parts as they are needed. */
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>>;
}

/** Reads a stored reply; null if it is no longer stored, or cannot be decrypted. */
export async function readReply(
  account: string,
  { id, parts }: StoredReply,
  { store, cipher }: StoredReplyParts,
): Promise<ReadReply | null> {
  const read = async (start: number): Promise<Uint8Array<ArrayBuffer>> => {
    const count = Math.min(PARTS_AT_ONCE, parts - start);
    const keys = Array.from({ length: count }, (_, n): Key => replyPartKey(account, id, start + n));
    const entries = await store.get<Uint8Array>(keys);
    return concatBytes(entries.map((entry, n) => {
      if (entry === null) throw new Error("A part of the reply is missing");
      return cipher.decrypt(entry.value, contextOf(id, start + n));
    }));
  };
  let first: Uint8Array<ArrayBuffer>;
  try {
    first = await read(0);
  } catch {
    return null;
  }
  const headEnd = LENGTH_BYTES + new DataView(first.buffer, first.byteOffset).getUint32(0);
  const head = JSON.parse(new TextDecoder().decode(first.subarray(LENGTH_BYTES, headEnd)));
  let next = PARTS_AT_ONCE;
  const body = outputStream<Uint8Array<ArrayBuffer>>({
    start(output) {
      if (first.length > headEnd) output.enqueue(first.subarray(headEnd));
      if (next >= parts) output.close();
    },
    async pull(output) {
      output.enqueue(await read(next));
      next += PARTS_AT_ONCE;
      if (next >= parts) output.close();
    },
  }, { highWaterMark: 0 });
  return { head, body };
}

/** A part belongs to its place in its reply. */
function contextOf(id: string, part: number): string {
  return `${id} ${part}`;
}

function headBytes(head: ReplyHead): Uint8Array[] {
  const bytes = Buffer.from(JSON.stringify(head));
  const length = new Uint8Array(LENGTH_BYTES);
  new DataView(length.buffer).setUint32(0, bytes.length);
  return [length, bytes];
}

/** Cuts bytes into lists of {@linkcode PART_BYTES} each, the last one excepted. */
function piecesOf(bytes: readonly Uint8Array[]): Uint8Array[][] {
  const pieces: Uint8Array[][] = [[]];
  let free = PART_BYTES;
  for (let rest of bytes) {
    while (rest.length > 0) {
      if (free === 0) {
        pieces.push([]);
        free = PART_BYTES;
      }
      const cut = rest.subarray(0, free);
      pieces.at(-1)!.push(cut);
      free -= cut.length;
      rest = rest.subarray(cut.length);
    }
  }
  return pieces;
}
