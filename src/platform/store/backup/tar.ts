import { createHash, type Hash } from "node:crypto";

/** The size and the SHA-256, in hexadecimal digits, of what was written or read. */
export interface Digest {
  readonly bytes: number;
  readonly sha256: string;
}

/** A file in an archive. Its content must be read before the next entry; otherwise it is skipped. */
export interface TarEntry {
  readonly name: string;
  readonly bytes: number;
  /** Passes the content on in pieces, which are valid until the next one. */
  read(onPiece: (piece: Uint8Array) => Promise<void>): Promise<Digest>;
}

/** An archive that is cut short, or is none. The message is part of a sentence. */
export class TarError extends Error {
  override readonly name = "TarError";
}

const BLOCK = 512;
const PIECE_BYTES = 256 * 1024;
const MAX_NAME_BYTES = 100;
const MAGIC = "ustar\u000000";
// Fields of a header: POSIX.1-2017, pax, "ustar Interchange Format".
const [MODE, SIZE, MODIFIED, CHECKSUM, TYPE, MAGIC_AT, PREFIX] = [100, 124, 136, 148, 156, 257, 345];
const SIZE_DIGITS = 11;

/** Writes an archive in the ustar format, which `tar` reads. */
export class TarWriter {
  readonly #file: Pick<Deno.FsFile, "write" | "sync">;
  readonly #modifiedAt: number;

  /**
   * @param file Open for writing, at its start.
   * @param modifiedAt Of all entries, in Unix milliseconds.
   */
  constructor(file: Pick<Deno.FsFile, "write" | "sync">, modifiedAt: number) {
    this.#file = file;
    this.#modifiedAt = modifiedAt;
  }

  /**
   * Adds a file.
   *
   * @throws {Error} If it is shorter when it is read than it was.
   */
  async addFile(name: string, file: Deno.FsFile): Promise<Digest> {
    const { size } = await file.stat();
    return await this.#add(name, size, (onPiece) => readExactly(file, size, onPiece));
  }

  /** Adds a text. */
  async addText(name: string, text: string): Promise<Digest> {
    const bytes = new TextEncoder().encode(text);
    return await this.#add(name, bytes.length, (onPiece) => onPiece(bytes));
  }

  /** Writes the end of the archive and makes it durable. */
  async end(): Promise<void> {
    await this.#write(new Uint8Array(2 * BLOCK));
    await this.#file.sync();
  }

  async #add(
    name: string,
    bytes: number,
    content: (onPiece: (piece: Uint8Array) => Promise<void>) => Promise<void>,
  ): Promise<Digest> {
    await this.#write(headerOf(name, bytes, this.#modifiedAt));
    const hash = createHash("sha256");
    await content(async (piece) => {
      hash.update(piece);
      await this.#write(piece);
    });
    await this.#write(new Uint8Array(paddingAfter(bytes)));
    return digestOf(hash, bytes);
  }

  async #write(bytes: Uint8Array): Promise<void> {
    // Ends with the bytes: a write takes at least one, or throws.
    for (let at = 0; at < bytes.length;) at += await this.#file.write(bytes.subarray(at));
  }
}

/**
 * Reads an archive of {@linkcode TarWriter}.
 *
 * @throws {TarError} If it is cut short or is no archive.
 */
export async function* readTar(file: Deno.FsFile): AsyncGenerator<TarEntry> {
  // Ends with the file: a file that is too short throws.
  for (;;) {
    const header = new Uint8Array(BLOCK);
    await fill(file, header);
    if (header.every((byte) => byte === 0)) return;
    const { name, bytes } = readHeader(header);
    let left = bytes;
    yield {
      name,
      bytes,
      async read(onPiece) {
        const hash = createHash("sha256");
        await readExactly(file, bytes, async (piece) => {
          left -= piece.length;
          hash.update(piece);
          await onPiece(piece);
        });
        return digestOf(hash, bytes);
      },
    };
    await file.seek(left + paddingAfter(bytes), Deno.SeekMode.Current);
  }
}

function headerOf(name: string, bytes: number, modifiedAt: number): Uint8Array {
  const header = new Uint8Array(BLOCK);
  const text = new TextEncoder();
  const put = (value: string, at: number) => header.set(text.encode(value), at);
  const slash = name.length > MAX_NAME_BYTES ? name.lastIndexOf("/") : -1;
  put(name.slice(slash + 1), 0);
  if (slash > 0) put(name.slice(0, slash), PREFIX);
  put("0000600\0" + "0000000\0".repeat(2), MODE);
  putSize(header, bytes);
  put(`${Math.floor(modifiedAt / 1000).toString(8).padStart(SIZE_DIGITS, "0")}\0`, MODIFIED);
  put("0", TYPE);
  put(MAGIC, MAGIC_AT);
  put(" ".repeat(8), CHECKSUM);
  put(`${sumOf(header).toString(8).padStart(6, "0")}\0 `, CHECKSUM);
  return header;
}

/** Eleven octal digits, or beyond 8 GiB the size in binary with the first bit set, as GNU tar does. */
function putSize(header: Uint8Array, bytes: number): void {
  const octal = bytes.toString(8);
  if (octal.length <= SIZE_DIGITS) {
    header.set(new TextEncoder().encode(`${octal.padStart(SIZE_DIGITS, "0")}\0`), SIZE);
    return;
  }
  header[SIZE] = 0x80;
  new DataView(header.buffer).setBigUint64(SIZE + 4, BigInt(bytes));
}

function readHeader(header: Uint8Array<ArrayBuffer>): { readonly name: string; readonly bytes: number } {
  const textAt = (at: number, length: number) =>
    new TextDecoder().decode(header.subarray(at, at + length)).replace(/\0.*$/s, "");
  const checksum = parseInt(textAt(CHECKSUM, 8), 8);
  const blank = header.slice().fill(32, CHECKSUM, CHECKSUM + 8);
  if (sumOf(blank) !== checksum || textAt(MAGIC_AT, 5) !== "ustar") throw new TarError("it is not an archive");
  const prefix = textAt(PREFIX, 155);
  const bytes = header[SIZE] === 0x80
    ? Number(new DataView(header.buffer).getBigUint64(SIZE + 4))
    : parseInt(textAt(SIZE, 12), 8);
  if (!Number.isSafeInteger(bytes)) throw new TarError("it is not an archive");
  return { name: (prefix === "" ? "" : `${prefix}/`) + textAt(0, MAX_NAME_BYTES), bytes };
}

async function readExactly(
  file: Deno.FsFile,
  bytes: number,
  onPiece: (piece: Uint8Array) => Promise<void>,
): Promise<void> {
  const buffer = new Uint8Array(Math.min(PIECE_BYTES, Math.max(bytes, 1)));
  for (let left = bytes; left > 0;) {
    const read = await file.read(buffer.subarray(0, Math.min(buffer.length, left)));
    if (read === null) throw new TarError("it is cut short");
    await onPiece(buffer.subarray(0, read));
    left -= read;
  }
}

async function fill(file: Deno.FsFile, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) {
    const read = await file.read(bytes.subarray(at));
    if (read === null) throw new TarError("it is cut short");
    at += read;
  }
}

function digestOf(hash: Hash, bytes: number): Digest {
  return { bytes, sha256: hash.digest("hex") };
}

function paddingAfter(bytes: number): number {
  return (BLOCK - bytes % BLOCK) % BLOCK;
}

function sumOf(bytes: Uint8Array): number {
  return bytes.reduce((sum, byte) => sum + byte, 0);
}
