import { join } from "node:path";

/** The repository's root, with a slash at its end. */
export const ROOT = new URL("../../", import.meta.url).pathname;

/** Every TypeScript file below a folder of the repository, by its path from the root. */
export async function sourceFiles(folder: string): Promise<string[]> {
  const found = await Promise.all([".ts", ".tsx"].map((ending) => filesOf(folder, ending)));
  return found.flat().sort();
}

/**
 * Every file below a folder of the repository whose name has an ending, by its path from the root. Empty for a folder
 * that does not exist. Installed packages are skipped.
 */
export async function filesOf(folder: string, ending: string): Promise<string[]> {
  const files: string[] = [];
  for (const entry of await entriesOf(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory && entry.name !== "node_modules") files.push(...await filesOf(path, ending));
    else if (entry.isFile && entry.name.endsWith(ending)) files.push(path);
  }
  return files;
}

async function entriesOf(folder: string): Promise<Deno.DirEntry[]> {
  try {
    return await Array.fromAsync(Deno.readDir(join(ROOT, folder)));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}
