import { readCredential } from "../../money/billing/keys/key_ring.ts";
import { GatewayError, invalidField } from "../../platform/lib/basics/gateway_error.ts";
import { mergeCommits } from "../../money/billing/accounts/records.ts";
import type { FileStore } from "../../platform/files/files.ts";
import { Holdings } from "../../platform/lib/collections/holdings.ts";
import { errorName } from "../../platform/lib/basics/log.ts";
import type { Entry } from "../../platform/store/store.ts";
import { addUpload, changeUpload, endUpload, readUpload } from "./records.ts";
import {
  isUploadId,
  newPartId,
  newUploadId,
  partNameOf,
  type StoredFileRecord,
  type UploadPart,
  type UploadRecord,
  type UploadStatus,
} from "./stored_file.ts";
import type { FileOwner, NewFile, StoredFiles } from "./stored_files.ts";

/** The maximum size of one part. Source: OpenAI API reference, "Uploads". */
export const MAX_PART_BYTES = 64 * 1_048_576;
/** The maximum number of parts, so that the record of an upload stays small. */
const MAX_PARTS = 500;
/** How long an upload can be completed. Source: OpenAI API reference, "Uploads". */
const UPLOAD_LIFETIME_MS = 3_600_000;
/** Parts of one upload may arrive simultaneously; each adds itself to the record. */
const MAX_RACES = 32;

/** An upload to be opened. */
export interface NewUpload extends NewFile, Pick<UploadRecord, "tokenHash"> {
  /** The size of the whole file. */
  readonly bytes: number;
}

/** A part to be added. */
export interface NewPart {
  readonly source: AsyncIterable<Uint8Array>;
  /** What errors call it. Default: `data`. */
  readonly field?: string;
  /** Default: {@linkcode MAX_PART_BYTES}. */
  readonly maxBytes?: number;
  /** The bytes that the parts before must have together; null for parts in any order. */
  readonly offset?: number | null;
}

/** A part that is sent again can meet the broken one, so parts under way may have more than what is missing. */
const ARRIVING_SHARE = 2;

/** What an upload is completed with. */
export interface ChosenParts {
  /** In the order of the file. */
  readonly partIds: readonly string[];
  /** The expected MD5 of the file, hexadecimal; null for none. */
  readonly md5: string | null;
}

/** An upload that is complete. */
export interface CompletedUpload {
  readonly upload: UploadRecord;
  readonly file: StoredFileRecord;
}

/** Files that arrive in parts. One instance serves all requests of a process. */
export class Uploads {
  /** Bytes of parts under way, by upload. */
  readonly #arriving = new Holdings();
  /** The uploads whose parts are joined at the moment. */
  readonly #joining = new Set<string>();

  constructor(readonly stored: StoredFiles) {}

  /** Opens an upload. */
  async create(
    { filename, purpose, bytes, mediaType, lifetimeSeconds: fileSeconds, tokenHash }: NewUpload,
    { accountId: account, keyId }: FileOwner,
  ): Promise<UploadRecord> {
    const { store } = this.stored.parts;
    const createdAt = store.now();
    const upload: UploadRecord = {
      id: newUploadId(createdAt),
      account,
      keyId,
      filename,
      purpose,
      ...mediaType !== undefined && { mediaType },
      bytes,
      createdAt,
      expiresAt: createdAt + UPLOAD_LIFETIME_MS,
      fileSeconds,
      ...tokenHash !== undefined && { tokenHash },
      status: "pending",
      parts: [],
      fileId: null,
    };
    const result = await store.commit(null, addUpload(upload));
    if (!result.ok) throw new Error(`The id of a new upload exists already: ${result.why}`);
    return upload;
  }

  /** Reads an upload of a key, in whatever state it is. @throws {GatewayError} `not_found`. */
  async read(keyId: string, id: string): Promise<UploadRecord> {
    return (await this.#entry(keyId, id)).value;
  }

  /**
   * Adds a part.
   *
   * @throws {GatewayError} `not_found`; `invalid_request` if the upload has ended or its parts exceed its size;
   * `conflict` if the part would not follow the parts before.
   */
  async addPart(
    keyId: string,
    id: string,
    { source, field = "data", maxBytes = MAX_PART_BYTES, offset = null }: NewPart,
  ): Promise<UploadPart> {
    const { store, files } = this.stored.parts;
    const upload = (await this.#pending(keyId, id)).value;
    refuseOtherOffset(upload, offset);
    const createdAt = store.now();
    const partId = newPartId(createdAt);
    const name = partNameOf(upload.id, partId);
    const bytes = await this.stored.writeAs(name, this.#counted(upload, source, field), maxBytes);
    try {
      const part = { id: partId, bytes, createdAt };
      for (let race = 0; race < MAX_RACES; race++) {
        const entry = await this.#pending(keyId, id);
        refuseOtherOffset(entry.value, offset);
        const parts = [...entry.value.parts, part];
        if (parts.length > MAX_PARTS) throw invalidField(field, `expected at most ${MAX_PARTS} parts`);
        // Unused parts count too, so that an upload takes no more room than it announced.
        if (receivedBytesOf(parts) > entry.value.bytes) throw tooMany(entry.value, field);
        if ((await store.commit(null, changeUpload(entry, { parts }))).ok) return part;
      }
      throw new GatewayError("conflict", "Cannot add the part: too many parts were added simultaneously; retry");
    } catch (error) {
      await files.remove(name);
      throw error;
    }
  }

  /**
   * Joins parts to a file. While it does, the parts and the file take room, so one request at a time does.
   *
   * @throws {GatewayError} `not_found`; `invalid_request` if the upload has ended, a part is none of its parts, or the
   * size or the hash differs; `conflict` while another request joins them.
   */
  async complete(keyId: string, id: string, chosen: ChosenParts): Promise<CompletedUpload> {
    if (this.#joining.has(id)) throw changed();
    this.#joining.add(id);
    try {
      return await this.#complete(keyId, id, chosen);
    } finally {
      this.#joining.delete(id);
    }
  }

  async #complete(keyId: string, id: string, { partIds, md5 }: ChosenParts): Promise<CompletedUpload> {
    const { store, files } = this.stored.parts;
    const entry = await this.#pending(keyId, id);
    const { account, filename, purpose, mediaType, bytes, fileSeconds: lifetimeSeconds } = entry.value;
    const parts = partIds.map((partId, index) => partIn(entry.value, partId, index));
    if (new Set(partIds).size < partIds.length) throw invalidField("part_ids", "expected each part once");
    if (receivedBytesOf(parts) !== bytes) {
      throw invalidField("part_ids", `expected parts of ${bytes} bytes together, got ${receivedBytesOf(parts)}`);
    }
    const content = await this.stored.write(joined(files, id, parts));
    try {
      if (md5 !== null && md5 !== content.md5) throw invalidField("md5", "expected the hash of the received bytes");
      await readCredential(store, { account, id: keyId });
      const owner = { accountId: account, keyId };
      const asked = { filename, purpose, lifetimeSeconds, ...mediaType !== undefined && { mediaType } };
      const { file, commit } = this.stored.record(content, asked, owner);
      const change = { status: "completed", fileId: file.id } as const;
      if (!(await store.commit(null, mergeCommits(commit, endUpload(entry, change)))).ok) throw changed();
      await this.#removeParts(entry.value);
      return { upload: { ...entry.value, ...change }, file };
    } catch (error) {
      // A commit with an unknown result may have been made, and its file would be without a content then.
      if (error instanceof GatewayError && error.code !== "storage_unavailable") await this.stored.discard(content.id);
      throw error;
    }
  }

  /**
   * Ends an upload without a file.
   *
   * @throws {GatewayError} `not_found`; `invalid_request` if it has ended.
   */
  async cancel(keyId: string, id: string): Promise<UploadRecord> {
    const entry = await this.#pending(keyId, id);
    const change = { status: "cancelled" } as const;
    if (!(await this.stored.parts.store.commit(null, endUpload(entry, change))).ok) throw changed();
    await this.#removeParts(entry.value);
    return { ...entry.value, ...change };
  }

  /** Bytes that could never be a part are refused before they are written. */
  async *#counted(
    upload: UploadRecord,
    source: AsyncIterable<Uint8Array>,
    field: string,
  ): AsyncGenerator<Uint8Array> {
    let bytes = 0;
    try {
      for await (const chunk of source) {
        bytes += chunk.length;
        this.#arriving.add(upload.id, chunk.length);
        if (this.#arriving.of(upload.id) > ARRIVING_SHARE * upload.bytes) throw tooMany(upload, field);
        yield chunk;
      }
    } finally {
      this.#arriving.add(upload.id, -bytes);
    }
  }

  async #entry(keyId: string, id: string): Promise<Entry<UploadRecord>> {
    const entry = isUploadId(id) ? await readUpload(this.stored.parts.store, id) : null;
    if (entry !== null && entry.value.keyId === keyId) return entry;
    throw new GatewayError("not_found", "Cannot find the upload: it does not exist or belongs to another key");
  }

  async #pending(keyId: string, id: string): Promise<Entry<UploadRecord>> {
    const entry = await this.#entry(keyId, id);
    const status = uploadStatusOf(entry.value, this.stored.parts.store.now());
    if (status === "pending") return entry;
    throw new GatewayError("invalid_request", `Cannot change the upload: it is ${status}`);
  }

  /** What cannot be removed now is removed at the end of the upload's lifetime. */
  async #removeParts({ id, parts }: UploadRecord): Promise<void> {
    const { files, log } = this.stored.parts;
    try {
      for (const part of parts) await files.remove(partNameOf(id, part.id));
    } catch (error) {
      log.warn("stored_file_left", { ref: id, reason: errorName(error) });
    }
  }
}

/** The state of an upload at an instant in Unix milliseconds. */
export function uploadStatusOf({ status, expiresAt }: UploadRecord, now: number): UploadStatus {
  return status === "pending" && expiresAt <= now ? "expired" : status;
}

function partIn({ parts }: UploadRecord, partId: string, index: number): UploadPart {
  const part = parts.find(({ id }) => id === partId);
  if (part === undefined) throw invalidField(`part_ids[${index}]`, "expected the id of a part of the upload");
  return part;
}

function tooMany({ bytes }: UploadRecord, field: string): GatewayError {
  return invalidField(field, `expected parts of ${bytes} bytes together, as the upload announced`);
}

function refuseOtherOffset({ parts }: UploadRecord, offset: number | null): void {
  const received = receivedBytesOf(parts);
  if (offset === null || offset === received) return;
  throw new GatewayError(
    "conflict",
    `Cannot add the bytes at ${offset}: the upload has ${received} bytes; go on there`,
    { isFinal: true },
  );
}

/** The bytes of parts together. */
export function receivedBytesOf(parts: readonly UploadPart[]): number {
  return parts.reduce((sum, { bytes }) => sum + bytes, 0);
}

async function* joined(files: FileStore, id: string, parts: readonly UploadPart[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) {
    const content = await files.find(partNameOf(id, part.id));
    if (content === null) throw changed();
    if (content.bytes > 0) yield* content.read();
  }
}

function changed(): GatewayError {
  return new GatewayError("conflict", "Cannot change the upload: another request has changed it");
}
