import { asUnwritableError, UnwritableError } from "../lib/process/unwritable.ts";
import { FilesUnavailableError } from "./files.ts";

/**
 * Runs an operation on a file.
 *
 * @throws {FilesUnavailableError} Where the system refuses it: a folder that is gone, forbidden, read-only or full.
 */
export async function onDisk<T>(path: string, operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    throw asFilesError(path, error);
  }
}

/** The {@linkcode FilesUnavailableError} for an error of the system; any other error unchanged. */
export function asFilesError(path: string, error: unknown): unknown {
  const known = asUnwritableError(null, path, error);
  if (known instanceof UnwritableError) return new FilesUnavailableError(known.message, { cause: error });
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (typeof code !== "string") return error;
  return new FilesUnavailableError(`Cannot use "${path}": the system refuses it (${code})`, { cause: error });
}
