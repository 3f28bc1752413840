import { readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseEnv } from "node:util";
import type { Environment } from "../../config/tree/expansion.ts";

/** The file of variables beside a configuration file. */
export const ENV_FILE = ".env";

/**
 * Reads the environment of the process, and then the file `.env` beside the configuration file. A reload of the
 * configuration reads a file that has changed again.
 *
 * @param configPath The configuration file, if it is named. Default: `SWITCHYARD_CONFIG`, else in the working folder.
 */
export function environmentOf(configPath?: string): Environment {
  const path = join(dirname(configPath ?? (Deno.env.get("SWITCHYARD_CONFIG") || ".")), ENV_FILE);
  let version = "";
  let variables: Readonly<Record<string, string | undefined>> = {};
  return (name) => {
    const own = Deno.env.get(name);
    if (own !== undefined) return own;
    const found = versionOf(path);
    if (found !== version) {
      version = found;
      variables = found === "" ? {} : parseEnv(textOf(readFileSync(path)));
    }
    return variables[name];
  };
}

/** The text of a file in UTF-8, or in UTF-16 as editors of Windows write it; without the mark of its byte order. */
function textOf(bytes: Uint8Array): string {
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  return new TextDecoder(isUtf16 ? "utf-16le" : "utf-8").decode(bytes);
}

/** Changes with the content of a file; empty if there is none. */
function versionOf(path: string): string {
  const about = statSync(path, { throwIfNoEntry: false });
  return about?.isFile() ? `${about.mtimeMs} ${about.size} ${about.ino}` : "";
}
