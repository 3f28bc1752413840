import { bundledFile, IS_BUNDLED } from "../lib/program_files.ts";

/** The version of this program. It follows Semantic Versioning 2.0.0. */
export const VERSION = "0.1.0";

/** The file of a bundle with facts of its source, as JSON: `{"commit": "…"}` or `{"commit": null}`. */
export const BUILD_FILE = "build.json";

/** The version with the commit of a bundle and the version of Deno: `0.1.0 (commit 9da93cc1f2a0, Deno 2.9.6)`. */
export async function describeVersion(): Promise<string> {
  return `${VERSION} (${await sourceOf()}, Deno ${Deno.version.deno})`;
}

async function sourceOf(): Promise<string> {
  if (!IS_BUNDLED) return "from source";
  const { commit } = JSON.parse(await Deno.readTextFile(bundledFile(BUILD_FILE)));
  return commit === null ? "unknown commit" : `commit ${commit}`;
}
