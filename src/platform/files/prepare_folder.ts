import { join } from "node:path";
import type { Log } from "../lib/basics/log.ts";
import { makePrivateFolder, PRIVATE_FILE_MODE, restrictPermissions } from "../lib/process/private_path.ts";

/** The prefix of partial files, so that a leftover is removed at the next start. */
const PROBE = ".part-probe-";

/**
 * Creates the folder of files if it is missing, removes the permissions of other users, and checks that this process
 * can write to it.
 *
 * @throws The system's error if it cannot.
 */
export async function prepareFolder(path: string, log: Log): Promise<void> {
  await makePrivateFolder(path);
  await restrictPermissions(path, log);
  const probe = join(path, `${PROBE}${crypto.randomUUID()}`);
  await Deno.writeFile(probe, new Uint8Array(), { createNew: true, mode: PRIVATE_FILE_MODE });
  try {
    await Deno.remove(probe);
  } catch (error) {
    // Another process that starts with the same folder may have removed it as a leftover.
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
