import { GatewayError, invalidField } from "../../platform/lib/basics/gateway_error.ts";
import type { FileReference } from "../../platform/lib/media/sent_media.ts";
import { namedFileId, type StoredFileRecord } from "./stored_file.ts";
import type { OpenedContent, StoredFiles } from "./stored_files.ts";

/** The functions of stored files that requests need which name one. */
export type ReadableFiles = Pick<StoredFiles, "read" | "open">;

/** A stored file with the field that names it. */
export interface ReferredFile extends Pick<FileReference, "field"> {
  readonly file: StoredFileRecord;
}

/**
 * Reads the record of a file that a request names.
 *
 * @throws {GatewayError} `not_found` if the key has no such file; `invalid_request` if it is empty. Each names the
 * field.
 */
export async function findReferred(
  files: Pick<ReadableFiles, "read">,
  keyId: string,
  { id, field }: FileReference,
): Promise<ReferredFile> {
  const fileId = namedFileId(id);
  if (fileId === null) throw unknownFile(field);
  const file = await files.read(keyId, fileId).catch((error) => withField(error, field));
  if (file.bytes === 0) throw invalidField(field, "the file is empty");
  return { field, file };
}

/**
 * Opens the content of such a file.
 *
 * @throws {GatewayError} `not_found` if it was removed in the meantime; what {@linkcode StoredFiles.open} throws.
 */
export async function openReferred(
  files: Pick<ReadableFiles, "open">,
  { file, field }: ReferredFile,
): Promise<OpenedContent> {
  return await files.open(file).catch((error) => withField(error, field));
}

/** Reads such a file as a whole. Throws as {@linkcode openReferred} does. */
export async function readReferred(
  files: Pick<ReadableFiles, "open">,
  referred: ReferredFile,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(referred.file.bytes);
  let at = 0;
  const { stream } = await openReferred(files, referred);
  for await (const chunk of stream) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

function withField(error: unknown, field: string): never {
  throw error instanceof GatewayError && error.code === "not_found" ? unknownFile(field) : error;
}

function unknownFile(field: string): GatewayError {
  return new GatewayError("not_found", `Cannot use "${field}": the key has no file with this id`, { field });
}
