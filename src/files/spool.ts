import { join } from "node:path";
import { makePrivateFolder, PRIVATE_FILE_MODE } from "../lib/private_path.ts";

/** Bytes that were put aside while they came, to be read again until they are let go. */
export interface Spooled {
  readonly lengthBytes: number;
  /** The bytes from the start, each time it is called; a piece is valid until the next one is asked for. */
  open(): AsyncIterable<Uint8Array<ArrayBuffer>>;
  /** The first bytes, at most so many. */
  head(mostBytes: number): Promise<Uint8Array<ArrayBuffer>>;
}

/** Bytes that are being put aside. */
export interface SpoolWriter {
  readonly lengthBytes: number;
  /** Copies the bytes. */
  write(bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  /** To be called once, after the last byte. */
  finish(): Spooled;
}

/** What one request puts aside. */
export interface RequestSpool {
  create(): SpoolWriter;
  /** Forgets everything in the room, finished or not. Never fails. */
  clear(): Promise<void>;
}

/** Where uploads wait while their request is under way: small ones in memory, others in files of this folder. */
export interface Spool {
  /** A room for one request. */
  openRequest(): RequestSpool;
  /** Removes what an earlier process left behind. */
  removeLeftovers(): Promise<void>;
}

const LARGEST_IN_MEMORY_BYTES = 65_536;
const PIECE_BYTES = 131_072;

/**
 * A spool in a folder that nobody else uses; the folder is made when it is first needed. File names are of our own
 * making.
 */
export function createSpool(folder: string): Spool {
  return {
    openRequest: () => new Room(folder),
    async removeLeftovers() {
      try {
        await Deno.remove(folder, { recursive: true });
      } catch (error) {
        if (!(error instanceof Deno.errors.NotFound)) throw error;
      }
    },
  };
}

class Room implements RequestSpool {
  readonly #writers: Writer[] = [];

  constructor(readonly folder: string) {}

  create(): SpoolWriter {
    const writer = new Writer(this.folder);
    this.#writers.push(writer);
    return writer;
  }

  async clear(): Promise<void> {
    await Promise.all(this.#writers.splice(0).map((writer) => writer.remove()));
  }
}

class Writer implements SpoolWriter {
  lengthBytes = 0;
  #pieces: Uint8Array<ArrayBuffer>[] = [];
  #file: Deno.FsFile | null = null;
  #path: string | null = null;

  constructor(readonly folder: string) {}

  async write(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    this.lengthBytes += bytes.length;
    if (this.#file === null && this.lengthBytes <= LARGEST_IN_MEMORY_BYTES) {
      return void this.#pieces.push(new Uint8Array(bytes));
    }
    writeAll(this.#file ?? await this.#moveToFile(), bytes);
  }

  finish(): Spooled {
    this.#file?.close();
    this.#file = null;
    const { lengthBytes } = this;
    const path = this.#path;
    const open = path === null ? () => piecesOf(this.#pieces) : () => piecesIn(path);
    return { lengthBytes, open, head: (mostBytes) => firstBytes(open(), Math.min(mostBytes, lengthBytes)) };
  }

  async remove(): Promise<void> {
    this.#file?.close();
    this.#file = null;
    this.#pieces = [];
    // What cannot be removed now is removed at the next start.
    if (this.#path !== null) await Deno.remove(this.#path).catch(() => {});
  }

  async #moveToFile(): Promise<Deno.FsFile> {
    await makePrivateFolder(this.folder);
    this.#path = join(this.folder, `${crypto.randomUUID()}.part`);
    this.#file = await Deno.open(this.#path, { write: true, createNew: true, mode: PRIVATE_FILE_MODE });
    for (const piece of this.#pieces.splice(0)) writeAll(this.#file, piece);
    return this.#file;
  }
}

/**
 * Without waiting, which takes microseconds as the system caches it. While a file is written in the background, the
 * platform heaps up the request bodies that come meanwhile and copies the heap with every piece: measured with twenty
 * bodies of 45 MB at once, ten times the processor time and 380 MB more.
 */
function writeAll(file: Deno.FsFile, bytes: Uint8Array<ArrayBuffer>): void {
  for (let at = 0; at < bytes.length;) at += file.writeSync(bytes.subarray(at));
}

async function* piecesOf(pieces: readonly Uint8Array<ArrayBuffer>[]): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  yield* pieces;
}

async function* piecesIn(path: string): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  using file = await Deno.open(path);
  // One buffer for all pieces: a fresh one each would be garbage by the gigabyte before anyone collects it.
  const piece = new Uint8Array(PIECE_BYTES);
  for (;;) {
    const length = await file.read(piece);
    if (length === null) return;
    yield piece.subarray(0, length);
  }
}

async function firstBytes(
  pieces: AsyncIterable<Uint8Array<ArrayBuffer>>,
  length: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(length);
  let at = 0;
  for await (const piece of pieces) {
    bytes.set(piece.subarray(0, length - at), at);
    at += piece.length;
    if (at >= length) break;
  }
  return bytes;
}
