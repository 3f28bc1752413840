import { dirname } from "node:path";
import { newApiKey } from "../../../money/billing/keys/api_key.ts";
import { makePrivateFolder, PRIVATE_FILE_MODE } from "../../../platform/lib/process/private_path.ts";
import { asUnwritableError } from "../../../platform/lib/process/unwritable.ts";

/** Reads the secret in a file, without surrounding white space; null if the file does not exist or is empty. */
export async function readSecret(path: string): Promise<string | null> {
  try {
    return (await Deno.readTextFile(path)).trim() || null;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw asUnwritableError(null, path, error);
  }
}

/** Writes a secret to a file that only its owner can read. The file is replaced as a whole. */
export async function writeSecret(path: string, secret: string): Promise<void> {
  try {
    await makePrivateFolder(dirname(path));
    await Deno.writeTextFile(`${path}.new`, `${secret}\n`, { mode: PRIVATE_FILE_MODE });
    await Deno.rename(`${path}.new`, path);
  } catch (error) {
    throw asUnwritableError(null, path, error);
  }
}

/** Reads the secret in a file. The first call generates one, so that it is the same at every start. */
export async function ensureSecret(path: string): Promise<string> {
  const existing = await readSecret(path);
  if (existing !== null) return existing;
  const secret = newApiKey();
  await writeSecret(path, secret);
  return secret;
}
