/** A place that the operator chose, where this process cannot write or read. */
export class UnwritableError extends Error {
  override readonly name = "UnwritableError";

  /**
   * @param setting The field of the configuration that names the place; null for one that no field names.
   * @param path The place.
   * @param reason Why not, in our own words.
   */
  constructor(readonly setting: string | null, readonly path: string, readonly reason: string, options?: ErrorOptions) {
    const named = setting === null ? "" : `, which the setting "${setting}" names`;
    super(`Cannot use "${path}"${named}: ${reason}`, options);
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "this process has no permission of the system (EACCES)",
  EPERM: "this process has no permission of the system (EPERM)",
  EROFS: "the file system is read-only (EROFS)",
  ENOSPC: "the disk is full (ENOSPC)",
  EDQUOT: "the disk quota is used up (EDQUOT)",
  ENOTDIR: "a part of the path is not a folder (ENOTDIR)",
  EEXIST: "a file is in the place of a folder (EEXIST)",
};

/**
 * What a failure of the file system tells about a place that the operator chose, or the failure itself when it tells
 * nothing about that.
 *
 * @param setting The field of the configuration that names the place; null for one that no field names.
 */
export function asUnwritableError(setting: string | null, path: string, error: unknown): unknown {
  const reason = reasonOf(error);
  return reason === null ? error : new UnwritableError(setting, path, reason, { cause: error });
}

function reasonOf(error: unknown): string | null {
  if (error instanceof Deno.errors.NotCapable) {
    return "this process was started without the right to write there; " +
      '"deno task start" may write anywhere, "deno task dev" below ./data';
  }
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code === "string" && Object.hasOwn(REASONS, code)) return REASONS[code];
  return error instanceof Deno.errors.PermissionDenied ? REASONS.EACCES : null;
}
