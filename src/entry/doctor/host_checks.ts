import { dirname } from "node:path";
import { MEMORY, requestLogPathOf } from "../app/opening/request_log.ts";
import type { Config } from "../../config/config.ts";
import { storeAddressOf } from "../../config/tree/store_address.ts";
import { ENOUGH_DESCRIPTORS } from "../../platform/http/listen.ts";
import { descriptorLimit } from "../../platform/lib/process/descriptors.ts";
import { freeSpaceAt } from "../../platform/store/free_space.ts";
import { systemClock } from "../../platform/lib/basics/clock.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";
import { errorName } from "../../platform/lib/basics/log.ts";

/** The version of Deno that this version is tested with, up to the minor number. */
const DENO_VERSION = "2.9.";

/** Checks the versions of this program and of Deno. */
export function checkVersion(version: string, deno: string = Deno.version.deno): Finding {
  const text = `switchyard ${version} on Deno ${deno}`;
  if (deno.startsWith(DENO_VERSION)) return ok("version", text);
  return warning("version", text, `run it with Deno ${DENO_VERSION}x, with which it is tested`);
}

/** Checks the limit of open files. Each connection needs one. */
export async function checkDescriptors(
  readLimit: () => Promise<number | null> = descriptorLimit,
): Promise<Finding> {
  const limit = await readLimit();
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

/** Returns the smallest free space of the file systems that contain folders, in bytes; null if it is not known. */
export type ReadFreeSpace = (folders: readonly string[]) => number | null;

/** Checks that the disks of the store, of the files and of the log of requests have free space. */
export async function checkDisk(
  config: Config,
  readFree: ReadFreeSpace = (folders) => freeSpaceAt(folders)(),
): Promise<Finding> {
  const { minFreeDiskBytes } = config.limits;
  const folders = await Promise.all(
    (await foldersOf(config)).map((folder) => nearestFolder(folder).catch(() => folder)),
  );
  const free = readFree([...new Set(folders)]);
  if (free === null) return ok("disk", "the free space is not known");
  const text = `${megabytes(free)} are free`;
  if (free < minFreeDiskBytes) {
    const advice = `free some space: below ${megabytes(minFreeDiskBytes)} (limits.min_free_disk) paid work is refused`;
    return problem("disk", text, advice);
  }
  if (free < minFreeDiskBytes * LOW_SPACE_FACTOR) return warning("disk", text, "free some space, or add a larger disk");
  return ok("disk", text);
}

/** The folders in which the gateway writes. */
async function foldersOf(config: Config): Promise<string[]> {
  const address = storeAddressOf(config.store);
  const store = address.engine === "kv" && address.path !== null ? [dirname(address.path)] : [];
  const log = await requestLogFileOf(config);
  return [...store, config.files, ...log === null ? [] : [dirname(log)]];
}

/** The file of the log of requests; null if it is off, in memory or in a database. */
async function requestLogFileOf(config: Config): Promise<string | null> {
  const { isEnabled, path } = config.requestLog;
  if (!isEnabled || (path === null && storeAddressOf(config.store).engine === "postgres")) return null;
  const found = await requestLogPathOf(config);
  return found === MEMORY ? null : found;
}

/** Checks that the log of requests can be written, and that no setting of it is without effect. */
export async function checkRequestLog(config: Config): Promise<Finding> {
  const { isEnabled, capture } = config.requestLog;
  if (!isEnabled && capture !== null) {
    const advice = "set request_log.enabled to true, or remove request_log.capture";
    return warning("request log", "off, so request_log.capture has no effect", advice);
  }
  if (!isEnabled) return ok("request log", "off");
  const path = await requestLogFileOf(config);
  if (path === null) return ok("request log", "in memory, or in the database of the store");
  try {
    await checkWritable(path);
    return ok("request log", `${path} can be written`);
  } catch (error) {
    const reason = errorName(error);
    const advice = "let the gateway's user write there, or change request_log.path";
    return problem("request log", `${path} cannot be written (${reason})`, advice);
  }
}

/** Checks an existing file, or the folder in which it is created. Nothing changes. */
async function checkWritable(path: string): Promise<void> {
  try {
    (await Deno.open(path, { append: true })).close();
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    await checkFolder(await nearestFolder(dirname(path)));
  }
}

async function checkFolder(folder: string): Promise<void> {
  await Deno.remove(await Deno.makeTempFile({ dir: folder, prefix: ".switchyard-doctor-" }));
}

/** Checks that files can be written to the folder of results. */
export async function checkFiles({ files }: Config): Promise<Finding> {
  try {
    const existing = await nearestFolder(files);
    await checkFolder(existing);
    return ok("files", existing === files ? `${files} can be written` : `${files} is created at the start`);
  } catch (error) {
    const reason = errorName(error);
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
  const { checkBucket } = await import("../../platform/files/s3/open.ts");
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
  // Ends at the root, which is its own parent.
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
