/** A file as it is kept: whole, never changed, found by its name alone. */
export interface StoredFile {
  readonly name: string;
  readonly bytes: number;
  /** By its first bytes; `application/octet-stream` where they say nothing. */
  readonly mediaType: string;
  /** A strong entity tag, with its quotes (RFC 9110, 8.8.3). */
  readonly etag: string;
  /** Unix milliseconds. */
  readonly modifiedAt: number;
  /** A part of it, both ends included; the whole without one. Reads as it is asked for. */
  read(part?: { readonly first: number; readonly last: number }): ReadableStream<Uint8Array<ArrayBuffer>>;
}

/** How a file is written. */
export interface WriteOptions {
  /** Bytes beyond which the file is given up. */
  readonly capBytes: number;
  /** Whether the file is given up where the quota has no room for it. Default false: it only counts. */
  readonly keepsQuota?: boolean;
  /** What the source announced; null when it did not. */
  readonly announcedBytes?: number | null;
}

/** Where files are kept. Names are the gateway's own, see {@linkcode isFileName}; others find nothing. */
export interface FileStore {
  /**
   * Keeps what a source gives, once it is whole; in place of an older file of the name. Nothing is kept when the source
   * fails or gives more than the cap.
   *
   * @returns How many bytes it has.
   * @throws {RangeError} If the name is none, or the source gives more than `capBytes`.
   * @throws {FilesFullError} With `keepsQuota`, when the quota has no room for it.
   */
  write(name: string, source: AsyncIterable<Uint8Array>, options: WriteOptions): Promise<number>;
  /** Null when there is none, or the name is none. */
  find(name: string): Promise<StoredFile | null>;
  /** Removes a file; one that is not there is removed already. */
  remove(name: string): Promise<void>;
  /**
   * Removes what writes left that did not come to their end, and files that nothing refers to. Called once, before the
   * first write.
   *
   * @param isKept Whether a file is still of use.
   */
  removeLeftovers(isKept: (name: string) => Promise<boolean>): Promise<void>;
}

/**
 * A name that the gateway makes: lower case, digits and hyphens, a dot, an ending. It can lead nowhere but into a
 * folder.
 */
export function isFileName(name: string): boolean {
  return /^[a-z0-9][a-z0-9-]{0,99}\.[a-z0-9]{1,5}$/.test(name);
}
