import { join } from "node:path";
import { JoinedBytes } from "../lib/bytes/joined_bytes.ts";
import { asFilesError, onDisk } from "./files_error.ts";
import { makePrivateFolder, PRIVATE_FILE_MODE } from "../lib/process/private_path.ts";

/** A complete upload that can be read several times until it is removed. */
export interface Spooled {
  readonly lengthBytes: number;
  /** The bytes from the start, for each call. A chunk is valid until the next one is read. */
  open(): AsyncIterable<Uint8Array<ArrayBuffer>>;
  /** The first bytes, at most `maxBytes`. */
  head(maxBytes: number): Promise<Uint8Array<ArrayBuffer>>;
}

/** An upload while it is received. */
export interface SpoolWriter {
  readonly lengthBytes: number;
  /** Copies the bytes. @throws {FilesUnavailableError} If they are not written. */
  write(bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  /** Must be called once, after the last byte. */
  finish(): Spooled;
}

/** The uploads of one request. */
export interface RequestSpool {
  create(): SpoolWriter;
  /** Removes all uploads, complete or not. Never fails. */
  clear(): Promise<void>;
}

/** Stores uploads while their request is in progress: small ones in memory, others in files of one folder. */
export interface Spool {
  /** Opens the uploads of one request. */
  openRequest(): RequestSpool;
  /** Removes the files of an earlier process. */
  removeLeftovers(): Promise<void>;
}

const MAX_IN_MEMORY_BYTES = 65_536;
const PIECE_BYTES = 131_072;

/**
 * Creates a spool in a folder without other users. The folder is created when it is first needed, and file names are
 * generated.
 */
export function createSpool(folder: string): Spool {
  return {
    openRequest: () => new Uploads(folder),
    async removeLeftovers() {
      try {
        await Deno.remove(folder, { recursive: true });
      } catch (error) {
        if (!(error instanceof Deno.errors.NotFound)) throw error;
      }
    },
  };
}

class Uploads implements RequestSpool {
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
  #bytes = new JoinedBytes();
  #file: Deno.FsFile | null = null;
  #path: string | null = null;

  constructor(readonly folder: string) {}

  async write(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    this.lengthBytes += bytes.length;
    if (this.#file === null && this.lengthBytes <= MAX_IN_MEMORY_BYTES) {
      return this.#bytes.add(bytes);
    }
    const { folder } = this;
    const file = this.#file ?? await onDisk(folder, () => this.#moveToFile());
    try {
      writeAll(file, bytes);
    } catch (error) {
      throw asFilesError(folder, error);
    }
  }

  finish(): Spooled {
    this.#file?.close();
    this.#file = null;
    const { lengthBytes } = this;
    const path = this.#path;
    const open = path === null ? () => piecesOf(this.#bytes.pieces) : () => piecesIn(path);
    return { lengthBytes, open, head: (maxBytes) => firstBytes(open(), Math.min(maxBytes, lengthBytes)) };
  }

  async remove(): Promise<void> {
    this.#file?.close();
    this.#file = null;
    this.#bytes = new JoinedBytes();
    // A file that cannot be removed now is removed at the next start.
    if (this.#path !== null) await Deno.remove(this.#path).catch(() => {});
  }

  async #moveToFile(): Promise<Deno.FsFile> {
    await makePrivateFolder(this.folder);
    this.#path = join(this.folder, `${crypto.randomUUID()}.part`);
    this.#file = await Deno.open(this.#path, { write: true, createNew: true, mode: PRIVATE_FILE_MODE });
    for (const piece of this.#bytes.pieces) writeAll(this.#file, piece);
    this.#bytes = new JoinedBytes();
    return this.#file;
  }
}

/**
 * Synchronous, because the system caches the write and it takes microseconds. During an asynchronous write the platform
 * collects the incoming request bodies and copies all of them with every chunk. Twenty bodies of 45 MB at once took ten
 * times the CPU time and 380 MB more.
 */
function writeAll(file: Deno.FsFile, bytes: Uint8Array<ArrayBuffer>): void {
  for (let at = 0; at < bytes.length;) at += file.writeSync(bytes.subarray(at));
}

async function* piecesOf(pieces: readonly Uint8Array<ArrayBuffer>[]): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  yield* pieces;
}

async function* piecesIn(path: string): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  using file = await Deno.open(path);
  // One buffer for all chunks: a new one for each would produce gigabytes of garbage.
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
