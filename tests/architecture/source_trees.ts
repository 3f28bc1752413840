import { join } from "node:path";
import { parsed, type SourceTrees } from "./exports.ts";
import { ROOT, sourceFiles } from "./source_files.ts";

let reading: Promise<SourceTrees> | null = null;

/** The syntax trees of the repository, which are read and parsed once. */
export function sourceTrees(): Promise<SourceTrees> {
  return reading ??= readTrees();
}

async function readTrees(): Promise<SourceTrees> {
  const folders = await Promise.all(["src", "scripts", "tests", "bench"].map(sourceFiles));
  const files = ["main.ts", ...folders.flat().filter((file) => !file.startsWith("tests/clients/node/"))];
  const read = async (file: string) => [file, await Deno.readTextFile(join(ROOT, file))] as const;
  return parsed(new Map(await Promise.all(files.map(read))));
}
