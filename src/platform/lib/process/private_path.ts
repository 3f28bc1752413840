import { errorName, type Log } from "../basics/log.ts";

/** The mode of the gateway's files: read and write for the owner only. */
export const PRIVATE_FILE_MODE = 0o600;
/** The mode of the gateway's folders: access for the owner only. */
const PRIVATE_FOLDER_MODE = 0o700;

const OTHERS = 0o077;
const STICKY = 0o1000;

/** Creates a folder and its missing parents with access for the owner only. An existing folder stays unchanged. */
export async function makePrivateFolder(path: string): Promise<void> {
  await Deno.mkdir(path, { recursive: true, mode: PRIVATE_FOLDER_MODE });
}

/**
 * Removes the group's and others' permissions from a file or folder of this user and logs `permissions_tightened`. A
 * path of another user, a shared folder such as `/tmp` and a path that cannot be changed are logged as
 * `permissions_open` and left unchanged. A missing path, or a system without modes, is ignored.
 */
export async function restrictPermissions(path: string, log: Log): Promise<void> {
  const about = await Deno.stat(path).catch(() => null);
  const mode = about?.mode ?? 0;
  if (about === null || (mode & OTHERS) === 0) return;
  const was = (mode & 0o7777).toString(8).padStart(4, "0");
  const [own, isShared] = [ownUserId(), (mode & STICKY) !== 0];
  try {
    if (isShared || (own !== null && about.uid !== own)) {
      const why = isShared ? "it is a shared folder" : "another user owns it";
      return log.warn("permissions_open", { path, reason: `its mode is ${was}, and ${why}` });
    }
    const wanted = mode & 0o7700;
    await Deno.chmod(path, wanted);
    log.warn("permissions_tightened", {
      path,
      reason: `its mode was ${was}, and is ${wanted.toString(8).padStart(4, "0")}`,
    });
  } catch (error) {
    const why = errorName(error);
    log.warn("permissions_open", { path, reason: `its mode is ${was}, and it cannot be changed: ${why}` });
  }
}

/** The user id of this process; null where it cannot be read. */
function ownUserId(): number | null {
  try {
    const { state } = Deno.permissions.querySync({ name: "sys", kind: "uid" });
    return state === "granted" ? Deno.uid() : null;
  } catch {
    return null;
  }
}
