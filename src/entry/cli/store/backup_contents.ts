import * as z from "zod";
import { SCHEMA } from "../../../platform/store/kv/keys.ts";
import { isFileName } from "../../../platform/files/files.ts";
import { BackupError } from "../command_errors.ts";

/** The names of the entries of a backup. The manifest is the last one, so a backup without it is cut short. */
export const ENTRIES = {
  store: "store.db",
  requests: "requests.db",
  bodies: "requests.db.bodies",
  files: "files/",
  fileList: "files.json",
  manifest: "manifest.json",
} as const;

/** The format of backups that this version writes. A higher one is of a newer version. */
export const BACKUP_FORMAT = 1;

/** The last entry of a backup: what the others are. */
export interface Manifest {
  readonly format: number;
  /** The version of the program that wrote it. */
  readonly version: string;
  /** When the store was copied, in Unix milliseconds. */
  readonly createdAt: number;
  /** The schema of the store. */
  readonly schema: number;
  /** Whether the files themselves are in the backup, or their list alone. */
  readonly hasFiles: boolean;
  /** Whether results are in a bucket, of which nothing is in the backup. */
  readonly hasBucket: boolean;
  /** The size in bytes and the SHA-256 of every other entry, by name. */
  readonly entries: Readonly<Record<string, { readonly bytes: number; readonly sha256: string }>>;
}

/** A file of the folder `files`: its path in there, and its size in bytes. */
export interface ListedFile {
  readonly name: string;
  readonly bytes: number;
}

const count = z.number().int().nonnegative();
const manifest: z.ZodType<Manifest> = z.object({
  format: count,
  version: z.string(),
  createdAt: count,
  schema: count,
  hasFiles: z.boolean(),
  hasBucket: z.boolean(),
  entries: z.record(z.string(), z.object({ bytes: count, sha256: z.string() })),
});
const fileList: z.ZodType<ListedFile[]> = z.array(z.object({ name: z.string(), bytes: count }));

/**
 * Reads a manifest.
 *
 * @throws {BackupError} If it is none, or one of a newer version.
 */
export function readManifest(text: string): Manifest {
  const read = manifest.safeParse(parsed(text));
  if (!read.success) throw new BackupError("its manifest is not readable");
  const { format, schema, version } = read.data;
  if (format > BACKUP_FORMAT || schema > SCHEMA) {
    throw new BackupError(
      `version ${version} wrote it, with format ${format} and schema ${schema}, and this version reads format ` +
        `${BACKUP_FORMAT} and schema ${SCHEMA}. Restore it with that version or a newer one`,
    );
  }
  return read.data;
}

/**
 * Reads the list of files.
 *
 * @throws {BackupError} If it is none.
 */
export function readFileList(text: string): readonly ListedFile[] {
  const read = fileList.safeParse(parsed(text));
  if (!read.success) throw new BackupError("its list of files is not readable");
  return read.data;
}

/** The folder of cached contents, below that of files. */
export const CACHES = "caches";

/** Whether a name is that of a file below the folder of files, which a backup has. It cannot lead out of the folder. */
export function isListedName(name: string): boolean {
  const own = name.startsWith(`${CACHES}/`) ? name.slice(CACHES.length + 1) : name;
  return isFileName(own);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
