import { join } from "node:path";

/** The repository's root, with a slash at its end. */
export const ROOT = new URL("../../", import.meta.url).pathname;

/** Every TypeScript file below a folder of the repository, by its path from the root. */
export async function sourceFiles(folder: string): Promise<string[]> {
  const files: string[] = [];
  for await (const entry of Deno.readDir(join(ROOT, folder))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory) files.push(...await sourceFiles(path));
    else if (entry.name.endsWith(".ts")) files.push(path);
  }
  return files;
}
