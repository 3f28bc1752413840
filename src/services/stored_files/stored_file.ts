import type { ProtocolName } from "../../platform/endpoints/protocols.ts";
import { newSortableId } from "../../platform/lib/basics/ids.ts";

/** The purposes that a caller may give a file. Source: docs/api/stored-files.md#purposes. */
export const UPLOAD_PURPOSES = ["batch", "user_data", "vision"] as const;

/** The purposes of all files. Only the gateway makes files of `batch_output`. */
export const FILE_PURPOSES = [...UPLOAD_PURPOSES, "batch_output"] as const;

/** What a file is for. */
export type FilePurpose = typeof FILE_PURPOSES[number];

/** The maximum size of one file. */
export const MAX_STORED_FILE_BYTES = 512 * 1_048_576;

/** The shortest and the longest lifetime that a caller may set, in seconds. */
export const EXPIRES_AFTER_SECONDS = { min: 3_600, max: 2_592_000 } as const;

/** The protocols whose callers store files. Each shows every file of a key, with ids of its own form. */
export type FileProtocol = Exclude<ProtocolName, "admin">;

/** The record of a file that a caller stored. It never changes. */
export interface StoredFileRecord {
  /** `file-` and 28 hexadecimal digits; sorts by the time of creation. */
  readonly id: string;
  readonly account: string;
  /** The key that created it; no other key can find it. */
  readonly keyId: string;
  /** As the caller sent it. For people only: it is never a path. */
  readonly filename: string;
  readonly purpose: FilePurpose;
  /** As the caller sent it. For people and clients only: a content is served by its first bytes. Absent: unknown. */
  readonly mediaType?: string;
  readonly bytes: number;
  /** SHA-256 of the content, hexadecimal. */
  readonly sha256: string;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** Unix milliseconds; null if it is kept until it is deleted. */
  readonly expiresAt: number | null;
}

/** One part of an upload. */
export interface UploadPart {
  /** `part_` and 28 hexadecimal digits. */
  readonly id: string;
  readonly bytes: number;
  /** Unix milliseconds. */
  readonly createdAt: number;
}

/** The states of an upload. An upload that is past its end counts as `expired`. */
export type UploadStatus = "pending" | "completed" | "cancelled" | "expired";

/** A file that arrives in parts. */
export interface UploadRecord {
  /** `upload_` and 28 hexadecimal digits. */
  readonly id: string;
  readonly account: string;
  readonly keyId: string;
  readonly filename: string;
  readonly purpose: FilePurpose;
  /** As in the record of a file. */
  readonly mediaType?: string;
  /** The size of the whole file. */
  readonly bytes: number;
  readonly createdAt: number;
  /** When the upload ends if it is not complete, in Unix milliseconds. */
  readonly expiresAt: number;
  /** The lifetime of the file in seconds, from its completion; null if none was set. */
  readonly fileSeconds: number | null;
  /** The SHA-256 of the token that stands for the key in the address of the upload. Absent: there is none. */
  readonly tokenHash?: string;
  readonly status: Exclude<UploadStatus, "expired">;
  readonly parts: readonly UploadPart[];
  /** The file, once the upload is complete. */
  readonly fileId: string | null;
}

const DIGITS = "[0-9a-f]{28}";
const FILE_ID = new RegExp(`^file-${DIGITS}$`);
const UPLOAD_ID = new RegExp(`^upload_${DIGITS}$`);
const NAMED_FILE = new RegExp(`^(?:file[-_]|(?:https?://[^?#]*/)?files/(?:file-)?)(${DIGITS})$`);
const CONTENT_NAME = new RegExp(`^(file-${DIGITS})\\.bin$`);
const PART_NAME = new RegExp(`^upload-(${DIGITS})-(${DIGITS})\\.bin$`);

/** Creates the id of a file. */
export function newFileId(nowMs: number): string {
  return `file-${newSortableId(nowMs)}`;
}

/** Creates the id of an upload. */
export function newUploadId(nowMs: number): string {
  return `upload_${newSortableId(nowMs)}`;
}

/** Creates the id of a part. */
export function newPartId(nowMs: number): string {
  return `part_${newSortableId(nowMs)}`;
}

/** Whether a text can be the id of a file. */
export function isFileId(text: string): boolean {
  return FILE_ID.test(text);
}

/**
 * The id of the file that a request names: by its id, or by an address of the content format, `files/<id>` with or
 * without what a client has before it. Ids have the form of any protocol. Null for other texts, such as ids of vendors.
 */
export function namedFileId(text: string): string | null {
  const digits = NAMED_FILE.exec(text)?.[1];
  return digits === undefined ? null : `file-${digits}`;
}

/** What the ids begin with that callers see. In the store each begins with `file-`. */
const SHOWN_PREFIXES: Readonly<Record<FileProtocol, string>> = {
  default: "file-",
  message: "file_",
  content: "files/",
};

/** The id of a file as callers of a protocol see it. */
export function shownFileId(id: string, protocol: FileProtocol): string {
  return SHOWN_PREFIXES[protocol] + id.slice("file-".length);
}

/** The id in the store of an id that callers of a protocol see; null if it can be none. */
export function storedFileId(shown: string, protocol: FileProtocol): string | null {
  const prefix = SHOWN_PREFIXES[protocol];
  const id = `file-${shown.slice(prefix.length)}`;
  return shown.startsWith(prefix) && isFileId(id) ? id : null;
}

/** Whether a text can be the id of an upload. */
export function isUploadId(text: string): boolean {
  return UPLOAD_ID.test(text);
}

/** The name of a file's content in the file store. */
export function contentNameOf(fileId: string): string {
  return `${fileId}.bin`;
}

/** The name of a part's content in the file store. */
export function partNameOf(uploadId: string, partId: string): string {
  return `upload-${uploadId.slice("upload_".length)}-${partId.slice("part_".length)}.bin`;
}

/** What a name in the file store belongs to; null if it is none of a stored file. */
export function ownerOfName(
  name: string,
): { readonly fileId: string } | { readonly uploadId: string; readonly partId: string } | null {
  const [, fileId] = CONTENT_NAME.exec(name) ?? [];
  if (fileId !== undefined) return { fileId };
  const [, upload, part] = PART_NAME.exec(name) ?? [];
  return upload === undefined || part === undefined ? null : { uploadId: `upload_${upload}`, partId: `part_${part}` };
}
