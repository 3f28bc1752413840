import { join } from "node:path";
import type { Log } from "../lib/log.ts";
import { makePrivateFolder, PRIVATE_FILE_MODE, restrictPermissions } from "../lib/private_path.ts";

/** Begins like what a write leaves that did not come to its end, so that it is removed at the next start. */
const PROBE = ".part-probe-";

/**
 * Makes the folder of files when it is missing, takes from others what they may do in it, and makes sure that this
 * process can write there.
 *
 * @throws What the system throws when it cannot.
 */
export async function prepareFolder(path: string, log: Log): Promise<void> {
  await makePrivateFolder(path);
  await restrictPermissions(path, log);
  const probe = join(path, `${PROBE}${crypto.randomUUID()}`);
  await Deno.writeFile(probe, new Uint8Array(), { createNew: true, mode: PRIVATE_FILE_MODE });
  try {
    await Deno.remove(probe);
  } catch (error) {
    // Another process that starts on the same folder may have removed it as a leftover.
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
