import type { Authenticate } from "../money/billing/authenticate.ts";
import { rateExceeded, type RequestRate } from "../money/limits/request_rate.ts";
import type { BodyLimits } from "../platform/http/bodies/body.ts";
import type { Inbound } from "../platform/http/request/inbound.ts";
import { invalidField } from "../platform/lib/basics/gateway_error.ts";
import type { AccountRoom } from "../services/stored_files/account_room.ts";
import {
  EXPIRES_AFTER_SECONDS,
  MAX_STORED_FILE_BYTES,
  type StoredFileRecord,
} from "../services/stored_files/stored_file.ts";
import type { FileOwner, NewFile, StoredFiles } from "../services/stored_files/stored_files.ts";
import type { Uploads } from "../services/stored_files/uploads.ts";
import { readFileForm } from "./file_form.ts";

/** The dependencies of the endpoints for stored files. */
export interface StoredFileRouteParts {
  readonly stored: StoredFiles;
  readonly uploads: Uploads;
  readonly authenticate: Authenticate;
  readonly bodyLimits: BodyLimits;
  /** Limits the changes of files by one key. */
  readonly changes: RequestRate;
  /** Limits the bytes of an account's files. */
  readonly room: AccountRoom;
}

/** What a form has besides its file. */
const FORM_OVERHEAD_BYTES = 1_048_576;
const MAX_FILE_NAME_LENGTH = 255;

/** Counts a change of files. @throws {GatewayError} `rate_limited`. */
export async function countChange(changes: RequestRate, keyId: string): Promise<void> {
  const counted = await changes.take(keyId);
  if (!counted.ok) throw rateExceeded("changes of files", counted);
}

/** A lifetime in seconds. @throws {GatewayError} `invalid_request`. */
export function readSeconds(value: unknown, field: string): number {
  const { min, max } = EXPIRES_AFTER_SECONDS;
  if (typeof value === "number" && Number.isInteger(value) && value >= min && value <= max) return value;
  throw invalidField(field, `expected ${min} to ${max}`);
}

/** The name of a file. @throws {GatewayError} `invalid_request`. */
export function readFileName(value: unknown, field: string): string {
  if (typeof value === "string" && value !== "" && value.length <= MAX_FILE_NAME_LENGTH) return value;
  throw invalidField(field, `expected a file name of 1 to ${MAX_FILE_NAME_LENGTH} characters`);
}

/** How the file of a form is stored. */
export interface FormFileOptions {
  readonly owner: FileOwner;
  /** The names of text fields; others are ignored. */
  readonly texts: ReadonlySet<string>;
  /** What the texts say of the file. It may throw. */
  readonly read: (fields: ReadonlyMap<string, string>) => Pick<NewFile, "purpose" | "lifetimeSeconds">;
}

/**
 * Stores the part `file` of a form within the room of its account.
 *
 * @throws {GatewayError} `invalid_request`, `request_too_large`, `overloaded` or `storage_unavailable`, and what `read`
 * throws. Nothing stays stored then.
 */
export async function storeFormFile(
  inbound: Inbound,
  { stored, bodyLimits, room }: Pick<StoredFileRouteParts, "stored" | "bodyLimits" | "room">,
  { owner, texts, read }: FormFileOptions,
): Promise<StoredFileRecord> {
  const taken = await room.take(owner.accountId, maxBytesOf(inbound), "file");
  try {
    const { fields, fileName, mediaType, stored: content } = await readFileForm(inbound, {
      limits: { ...bodyLimits, capBytes: MAX_STORED_FILE_BYTES + FORM_OVERHEAD_BYTES },
      fileField: "file",
      texts,
      store: (source) => stored.write(source, taken.bytes),
      discard: ({ id }) => stored.discard(id),
    });
    let asked: NewFile;
    try {
      const filename = readFileName(fileName || "file", "file");
      asked = { ...read(fields), filename, ...mediaType !== undefined && { mediaType } };
    } catch (error) {
      await stored.discard(content.id);
      throw error;
    }
    const file = await stored.add(content, asked, owner);
    taken.end(file.bytes);
    return file;
  } finally {
    taken.end(0);
  }
}

/** The most bytes of the file of a form, by the length that the request declares; null if it declares none. */
function maxBytesOf({ request }: Inbound): number | null {
  const declared = request.headers.get("content-length");
  return declared === null ? null : Math.min(Number(declared), MAX_STORED_FILE_BYTES);
}
