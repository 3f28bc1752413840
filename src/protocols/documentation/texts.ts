import { bundledFile, IS_BUNDLED } from "../../platform/lib/process/program_files.ts";

/** The file with all pages that a bundle of the gateway contains: their texts by their names. */
export const PAGES_FILE = "docs.json";

/** The text of each page as Markdown, by its path below `docs` without `.md`: `api/errors`. */
export type PageTexts = ReadonlyMap<string, string>;

/** Reads all pages of the documentation. */
export async function readPageTexts(): Promise<PageTexts> {
  if (!IS_BUNDLED) return await readFolder(new URL("../../../docs/", import.meta.url), ["", "api/", "operating/"]);
  return new Map(Object.entries(JSON.parse(await Deno.readTextFile(bundledFile(PAGES_FILE)))));
}

async function readFolder(root: URL, folders: readonly string[]): Promise<PageTexts> {
  const pages = new Map<string, string>();
  for (const folder of folders) {
    for await (const { name } of Deno.readDir(new URL(folder, root))) {
      if (!name.endsWith(".md")) continue;
      pages.set(folder + name.slice(0, -".md".length), await Deno.readTextFile(new URL(folder + name, root)));
    }
  }
  return new Map([...pages].sort(([one], [other]) => one < other ? -1 : 1));
}
