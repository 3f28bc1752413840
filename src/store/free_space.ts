import { statfsSync } from "node:fs";

/**
 * The least free space, in bytes, of the file systems that these folders lie on.
 *
 * @returns Of a function: null when it is not known, because a folder is not there or `--allow-sys=statfs` was not
 * given.
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
    return null; // the folder is made later
  }
}
