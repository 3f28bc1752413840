import { dirname } from "node:path";
import type { Config } from "../config/config.ts";
import { ENOUGH_DESCRIPTORS, softDescriptorLimit } from "../http/listen.ts";
import { freeSpaceAt } from "../store/free_space.ts";
import { systemClock } from "../lib/clock.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";

/** The version of Deno that this version is tested with, up to the minor number. */
const DENO_VERSION = "2.9.";

/** Checks the versions of this program and of Deno. */
export function checkVersion(version: string, deno: string = Deno.version.deno): Finding {
  const text = `switchyard ${version} on Deno ${deno}`;
  if (deno.startsWith(DENO_VERSION)) return ok("version", text);
  return warning("version", text, `run it with Deno ${DENO_VERSION}x, with which it is tested`);
}

/** Checks the limit of open files. Each connection needs one. */
export async function checkDescriptors(): Promise<Finding> {
  const limit = await softDescriptorLimit();
  if (limit === null) return ok("descriptors", "the system does not report a limit of open files");
  if (limit >= ENOUGH_DESCRIPTORS) return ok("descriptors", `${limit} open files`);
  return warning(
    "descriptors",
    `at most ${limit} open files, which that many connections use up`,
    `raise the limit: "ulimit -n ${ENOUGH_DESCRIPTORS}", or LimitNOFILE=${ENOUGH_DESCRIPTORS} in the unit of systemd`,
  );
}

/** The free space below which a warning is given, as a multiple of `limits.min_free_disk`. */
const LOW_SPACE_FACTOR = 5;

/** Checks that the disks of the store and of the files have free space. */
export function checkDisk({ store, files, limits: { minFreeDiskBytes } }: Config): Finding {
  const path = store.slice(store.indexOf(":") + 1);
  const free = freeSpaceAt(path === ":memory:" ? [files] : [dirname(path), files, "."])();
  if (free === null) return ok("disk", "the free space is not known");
  const text = `${megabytes(free)} are free`;
  if (free < minFreeDiskBytes) {
    const advice = `free some space: below ${megabytes(minFreeDiskBytes)} (limits.min_free_disk) paid work is refused`;
    return problem("disk", text, advice);
  }
  if (free < minFreeDiskBytes * LOW_SPACE_FACTOR) return warning("disk", text, "free some space, or add a larger disk");
  return ok("disk", text);
}

/** Checks that files can be written to the folder of results. */
export async function checkFiles({ files }: Config): Promise<Finding> {
  try {
    const existing = await nearestFolder(files);
    const path = await Deno.makeTempFile({ dir: existing, prefix: ".switchyard-doctor-" });
    await Deno.remove(path);
    return ok("files", existing === files ? `${files} can be written` : `${files} is created at the start`);
  } catch (error) {
    const reason = error instanceof Error ? error.name : typeof error;
    return problem(
      "files",
      `${files} cannot be written (${reason})`,
      'let the gateway\'s user write there, or change "files"',
    );
  }
}

/** Checks the bucket of results. One small object is written and removed. */
export async function checkFilesBucket({ bucket, proxies }: Config): Promise<Finding[]> {
  if (bucket === null) return [];
  const { checkBucket } = await import("../files/s3/open.ts");
  try {
    await checkBucket(bucket, { clock: systemClock, caCerts: [], proxies });
    return [ok("bucket", `${bucket.bucket} at ${bucket.endpoint} can be listed, written and read`)];
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return [problem("bucket", reason, 'correct "files" and its credentials; docs/scaling.md describes the rights')];
  }
}

/** The folder itself or, if it does not exist, the nearest one above it. Throws if that is a file. */
async function nearestFolder(path: string): Promise<string> {
  for (let folder = path;; folder = dirname(folder)) {
    const found = await Deno.stat(folder).catch((error) => {
      if (error instanceof Deno.errors.NotFound && folder !== dirname(folder)) return null;
      throw error;
    });
    if (found?.isDirectory === false) throw new Deno.errors.NotADirectory(folder);
    if (found !== null) return folder;
  }
}

function megabytes(bytes: number): string {
  return bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${Math.round(bytes / 1e6)} MB`;
}
