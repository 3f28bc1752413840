import { dirname } from "node:path";
import { newApiKey } from "../billing/api_key.ts";
import { makePrivateFolder, PRIVATE_FILE_MODE } from "../lib/private_path.ts";
import { asUnwritableError } from "../lib/unwritable.ts";

/** The secret that a file holds, without blanks around it; null when there is no such file, or it is empty. */
export async function readSecret(path: string): Promise<string | null> {
  try {
    return (await Deno.readTextFile(path)).trim() || null;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw asUnwritableError(null, path, error);
  }
}

/** Writes a secret to a file that its owner alone can read. It is written beside its place and moved there. */
export async function writeSecret(path: string, secret: string): Promise<void> {
  try {
    await makePrivateFolder(dirname(path));
    await Deno.writeTextFile(`${path}.new`, `${secret}\n`, { mode: PRIVATE_FILE_MODE });
    await Deno.rename(`${path}.new`, path);
  } catch (error) {
    throw asUnwritableError(null, path, error);
  }
}

/** The secret that a file holds; made when it is missing, so that it stays good from start to start. */
export async function keptSecret(path: string): Promise<string> {
  const kept = await readSecret(path);
  if (kept !== null) return kept;
  const secret = newApiKey();
  await writeSecret(path, secret);
  return secret;
}
