import { bundledFile, IS_BUNDLED } from "../../platform/lib/process/program_files.ts";

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

/** The first version of Deno with everything that the gateway uses. */
const NEEDED = [2, 9] as const;

/** Says which Deno is needed; null if this version is new enough. */
export function denoProblem(version: string): string | null {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isEnough = major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1]);
  return isEnough ? null : `switchyard: needs Deno ${NEEDED.join(".")} or later, and this is Deno ${version}`;
}
