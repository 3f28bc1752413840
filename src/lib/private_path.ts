import type { Log } from "./log.ts";

/** What a file of the gateway may be used for: by its owner alone, to read and to write. */
export const PRIVATE_FILE_MODE = 0o600;
/** A folder likewise. */
export const PRIVATE_FOLDER_MODE = 0o700;

const OTHERS = 0o077;
const STICKY = 0o1000;

/** Makes a folder, and the parents that are missing, for its owner alone. One that is there stays as it is. */
export async function makePrivateFolder(path: string): Promise<void> {
  await Deno.mkdir(path, { recursive: true, mode: PRIVATE_FOLDER_MODE });
}

/**
 * Takes from a file or folder of our own what its group and others may do, and logs that as `permissions_tightened`.
 * What we do not own, or cannot change, is logged as `permissions_open` and left alone, as is a shared folder such as
 * `/tmp`. Nothing happens where there is no such path, or where the system has no modes.
 */
export async function restrictPermissions(path: string, log: Log): Promise<void> {
  const about = await Deno.stat(path).catch(() => null);
  const mode = about?.mode ?? 0;
  if (about === null || (mode & OTHERS) === 0) return;
  const was = (mode & 0o7777).toString(8).padStart(4, "0");
  const [own, isShared] = [ownUserId(), (mode & STICKY) !== 0];
  try {
    if (isShared || (own !== null && about.uid !== own)) {
      const why = isShared ? "it is a shared folder" : "it belongs to another user";
      return log.warn("permissions_open", { path, reason: `its mode is ${was}, and ${why}` });
    }
    const wanted = mode & 0o7700;
    await Deno.chmod(path, wanted);
    log.warn("permissions_tightened", {
      path,
      reason: `its mode was ${was}, and is ${wanted.toString(8).padStart(4, "0")}`,
    });
  } catch (error) {
    const why = error instanceof Error ? error.name : typeof error;
    log.warn("permissions_open", { path, reason: `its mode is ${was}, and it cannot be changed: ${why}` });
  }
}

/** Who runs this process; null where that may not be asked. */
function ownUserId(): number | null {
  try {
    const { state } = Deno.permissions.querySync({ name: "sys", kind: "uid" });
    return state === "granted" ? Deno.uid() : null;
  } catch {
    return null;
  }
}
