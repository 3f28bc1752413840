import { createHash } from "node:crypto";
import { readCredential } from "../../money/billing/keys/key_ring.ts";
import { type FileStore, FilesUnavailableError } from "../../platform/files/files.ts";
import { FilesFullError } from "../../platform/files/quota.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import { errorName, type Log } from "../../platform/lib/basics/log.ts";
import { iteratorStream } from "../../platform/lib/streams/output_stream.ts";
import type { Commit, Entry, Store } from "../../platform/store/store.ts";
import { addFile, type FileListRequest, listFileRecords, readFileRecord, removeFile } from "./records.ts";
import {
  contentNameOf,
  type FilePurpose,
  isFileId,
  MAX_STORED_FILE_BYTES,
  newFileId,
  type StoredFileRecord,
} from "./stored_file.ts";
import { ChangedContentError, verified } from "./verified_content.ts";

/** The dependencies of {@linkcode StoredFiles}. */
export interface StoredFilesParts {
  readonly store: Store;
  readonly files: FileStore;
  readonly log: Log;
  /** The longest lifetime of a file in milliseconds; null for no limit. */
  readonly retentionMs: () => number | null;
}

/** The owner of a file. */
export interface FileOwner {
  readonly accountId: string;
  readonly keyId: string;
}

/** A file to be stored. */
export interface NewFile {
  readonly filename: string;
  readonly purpose: FilePurpose;
  /** The lifetime that was asked for, in seconds; null for none. */
  readonly lifetimeSeconds: number | null;
  /** As in the record. */
  readonly mediaType?: string;
}

/** A content that was written and has no record yet. */
export interface WrittenContent {
  readonly id: string;
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
  /** Hexadecimal. */
  readonly md5: string;
}

/** A content that is read. */
export interface OpenedContent {
  readonly bytes: number;
  /** By its first bytes. */
  readonly mediaType: string;
  /** Fails before its last chunk if the content was changed. */
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>>;
}

/** Files of callers: each belongs to the key that stored it, and other keys get 404. */
export class StoredFiles {
  constructor(readonly parts: StoredFilesParts) {}

  /**
   * Writes a content. It has no record until {@linkcode StoredFiles.record}, and whoever does not record it must remove
   * it with {@linkcode StoredFiles.discard}.
   *
   * @throws {GatewayError} `request_too_large`; `storage_unavailable` if there is no room or no storage; what `source`
   * throws.
   */
  async write(source: AsyncIterable<Uint8Array>, capBytes = MAX_STORED_FILE_BYTES): Promise<WrittenContent> {
    const id = newFileId(this.parts.store.now());
    const [sha256, md5] = [createHash("sha256"), createHash("md5")];
    const bytes = await this.writeAs(contentNameOf(id), hashed(source, [sha256, md5]), capBytes);
    return { id, bytes, sha256: sha256.digest("hex"), md5: md5.digest("hex") };
  }

  /** Writes a content under a name, with the errors of {@linkcode StoredFiles.write}. */
  async writeAs(name: string, source: AsyncIterable<Uint8Array>, capBytes: number): Promise<number> {
    try {
      return await this.parts.files.write(name, source, { capBytes, keepsQuota: true });
    } catch (error) {
      throw asStorageError(error, capBytes);
    }
  }

  /** Removes a content that gets no record. */
  async discard(id: string): Promise<void> {
    await this.parts.files.remove(contentNameOf(id)).catch((error) => this.#logLeft(id, error));
  }

  /** The record of a written content, and the commit that adds it. */
  record(content: WrittenContent, file: NewFile, owner: FileOwner): { file: StoredFileRecord; commit: Commit } {
    const { filename, purpose, lifetimeSeconds, mediaType } = file;
    const { id, bytes, sha256 } = content;
    const createdAt = this.parts.store.now();
    const lifetimeMs = Math.min(
      lifetimeSeconds === null ? Infinity : lifetimeSeconds * 1000,
      this.parts.retentionMs() ?? Infinity,
    );
    const record: StoredFileRecord = {
      id,
      account: owner.accountId,
      keyId: owner.keyId,
      filename,
      purpose,
      ...mediaType !== undefined && { mediaType },
      bytes,
      sha256,
      createdAt,
      expiresAt: lifetimeMs === Infinity ? null : createdAt + lifetimeMs,
    };
    return { file: record, commit: addFile(record) };
  }

  /**
   * Stores a file whose content was written. It may have arrived for an hour.
   *
   * @throws {GatewayError} `invalid_api_key` if the key may not be used any more: no erasure would find its file.
   */
  async add(content: WrittenContent, file: NewFile, owner: FileOwner): Promise<StoredFileRecord> {
    try {
      await readCredential(this.parts.store, { account: owner.accountId, id: owner.keyId });
    } catch (error) {
      await this.discard(content.id);
      throw error;
    }
    const { file: record, commit } = this.record(content, file, owner);
    // The content of a commit with an unknown result stays: the next start removes it if it has no record.
    const result = await this.parts.store.commit(null, commit);
    if (result.ok) return record;
    await this.discard(content.id);
    throw new Error(`The id of a new file exists already: ${result.why}`);
  }

  /**
   * Reads a file of a key.
   *
   * @throws {GatewayError} `not_found` if there is none, it has expired, or another key owns it.
   */
  async read(keyId: string, id: string): Promise<StoredFileRecord> {
    return (await this.#entry(keyId, id)).value;
  }

  /** The file of a key; null as {@linkcode StoredFiles.read} throws. */
  async find(keyId: string, id: string): Promise<StoredFileRecord | null> {
    return (await this.#find(keyId, id))?.value ?? null;
  }

  /** Lists a key's files, and whether there are more. */
  async list(
    keyId: string,
    page: FileListRequest,
  ): Promise<{ readonly files: readonly StoredFileRecord[]; readonly hasMore: boolean }> {
    const found = await listFileRecords(this.parts.store, keyId, { ...page, limit: page.limit + 1 });
    const files = found.slice(0, page.limit).filter((file) => !this.#isExpired(file));
    return { files, hasMore: found.length > page.limit };
  }

  /**
   * Removes a file and its content, and returns its record.
   *
   * @throws {GatewayError} As {@linkcode StoredFiles.read}.
   */
  async remove(keyId: string, id: string): Promise<StoredFileRecord> {
    const { store } = this.parts;
    const entry = await this.#entry(keyId, id);
    const result = await store.commit(null, removeFile(entry));
    if (!result.ok) throw notFound();
    await this.discard(id);
    return entry.value;
  }

  /**
   * Opens the content of a file.
   *
   * @throws {GatewayError} `not_found` if the content is gone; `storage_unavailable` if it cannot be reached.
   */
  async open(file: StoredFileRecord): Promise<OpenedContent> {
    const { files, log } = this.parts;
    try {
      const content = await files.find(contentNameOf(file.id));
      if (content === null) throw notFound();
      const noted = async function* () {
        try {
          yield* verified(content.read(), file);
        } catch (error) {
          if (error instanceof ChangedContentError) log.error("stored_file_changed", { ref: file.id });
          throw error;
        }
      };
      return { bytes: file.bytes, mediaType: content.mediaType, stream: iteratorStream(noted()) };
    } catch (error) {
      throw asStorageError(error, MAX_STORED_FILE_BYTES);
    }
  }

  async #entry(keyId: string, id: string): Promise<Entry<StoredFileRecord>> {
    const entry = await this.#find(keyId, id);
    if (entry === null) throw notFound();
    return entry;
  }

  async #find(keyId: string, id: string): Promise<Entry<StoredFileRecord> | null> {
    const entry = isFileId(id) ? await readFileRecord(this.parts.store, id) : null;
    return entry === null || entry.value.keyId !== keyId || this.#isExpired(entry.value) ? null : entry;
  }

  #isExpired({ expiresAt }: StoredFileRecord): boolean {
    return expiresAt !== null && expiresAt <= this.parts.store.now();
  }

  #logLeft(id: string, error: unknown): void {
    this.parts.log.warn("stored_file_left", { ref: id, reason: errorName(error) });
  }
}

async function* hashed(
  source: AsyncIterable<Uint8Array>,
  hashes: readonly ReturnType<typeof createHash>[],
): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) {
    for (const hash of hashes) hash.update(chunk);
    yield chunk;
  }
}

function notFound(): GatewayError {
  return new GatewayError(
    "not_found",
    "Cannot find the file: it does not exist, has expired, or belongs to another key",
  );
}

function asStorageError(error: unknown, capBytes: number): unknown {
  if (error instanceof RangeError) {
    return new GatewayError("request_too_large", `Cannot store the file: expected at most ${capBytes} bytes`, {
      closeConnection: true,
    });
  }
  const isFull = error instanceof FilesFullError;
  if (!isFull && !(error instanceof FilesUnavailableError)) return error;
  const why = isFull ? "there is no room for files" : "the storage of files is unavailable; retry later";
  return new GatewayError("storage_unavailable", `Cannot use the files: ${why}`, {
    retryAfterSeconds: isFull ? 60 : 5,
    closeConnection: true,
    cause: error,
    ...!isFull && { loggedMessage: error.message },
  });
}
