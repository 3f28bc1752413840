import { ownValue } from "../collections/own_value.ts";

/** A configured path that this process cannot read or write. */
export class UnwritableError extends Error {
  override readonly name = "UnwritableError";

  /**
   * @param setting The configuration field that contains the path; null if there is none.
   * @param path The path.
   * @param reason The reason in plain words.
   */
  constructor(readonly setting: string | null, readonly path: string, readonly reason: string, options?: ErrorOptions) {
    const named = setting === null ? "" : ` (setting "${setting}")`;
    super(`Cannot use "${path}"${named}: ${reason}`, options);
  }
}

const PERMISSION_DENIED = "permission denied (EACCES)";

const REASONS: Readonly<Record<string, string>> = {
  EACCES: PERMISSION_DENIED,
  EPERM: "permission denied (EPERM)",
  EROFS: "the file system is read-only (EROFS)",
  ENOSPC: "the disk is full (ENOSPC)",
  EDQUOT: "the disk quota is used up (EDQUOT)",
  ENOTDIR: "part of the path is not a folder (ENOTDIR)",
  ENOENT: "the folder does not exist, or cannot be created (ENOENT)",
  EISDIR: "a folder exists where a file is expected (EISDIR)",
  ELOOP: "its links lead to each other (ELOOP)",
  ENAMETOOLONG: "the name is too long (ENAMETOOLONG)",
  EEXIST: "a file exists where a folder is expected (EEXIST)",
};

/**
 * Converts a file system error about a configured path to an {@linkcode UnwritableError}. Any other error is returned
 * unchanged.
 *
 * @param setting The configuration field that contains the path; null if there is none.
 */
export function asUnwritableError(setting: string | null, path: string, error: unknown): unknown {
  const reason = reasonOf(error);
  return reason === null ? error : new UnwritableError(setting, path, reason, { cause: error });
}

function reasonOf(error: unknown): string | null {
  if (error instanceof Deno.errors.NotCapable) {
    return "this process has no permission to write there; " +
      '"deno task start" may write to every path, "deno task dev" only below ./data';
  }
  const code = (error as { code?: unknown } | null)?.code;
  const reason = typeof code === "string" ? ownValue(REASONS, code) : undefined;
  if (reason !== undefined) return reason;
  return error instanceof Deno.errors.PermissionDenied ? PERMISSION_DENIED : null;
}
