import { statfsSync } from "node:fs";

/**
 * The smallest free space, in bytes, of the file systems that contain these folders.
 *
 * @returns A function that reads it. It returns null when no folder exists or `--allow-sys=statfs` was not given.
 */
export function freeSpaceAt(folders: readonly string[]): () => number | null {
  const isPermitted = Deno.permissions.querySync({ name: "sys", kind: "statfs" }).state === "granted";
  if (!isPermitted) return () => null;
  return () => {
    const known = folders.flatMap((folder) => freeBytesOf(folder) ?? []);
    return known.length === 0 ? null : Math.min(...known);
  };
}

function freeBytesOf(folder: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return null; // the folder is created later
  }
}
