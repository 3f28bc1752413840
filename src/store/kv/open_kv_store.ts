import { basename, dirname, join, resolve } from "node:path";
import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import { makePrivateFolder, restrictPermissions } from "../../lib/private_path.ts";
import { DATABASE_FILE_SUFFIXES, prepareDatabaseFile, StoreFileError, StoreMissingError } from "./database_file.ts";
import { SCHEMA } from "./keys.ts";
import { KvStore, type OwnedDatabase } from "./kv_store.ts";
import { ProcessLock } from "./process_lock.ts";

/** What the embedded engine needs. */
export interface KvStoreOptions {
  /** The database's file, or `:memory:`. Its folder is made when it is missing. */
  readonly path: string;
  /** All due times, leases and expiries are by it. */
  readonly clock: Clock;
  readonly log: Log;
  /** Whether the database must be there already. Default false: it is made when it is missing. */
  readonly mustExist?: boolean;
  /** How much room its disk has, and should have. Default: not looked at. */
  readonly space?: OwnedDatabase["space"];
  /** Opens the database; another only to watch or to hurt it in tests. */
  readonly openKv?: (path: string) => Promise<Deno.Kv>;
}

/**
 * Opens the embedded engine: Deno KV in one file, owned by this process alone. Its files are for its owner alone.
 *
 * @throws {StoreMissingError} If it must exist and does not. Nothing is made.
 * @throws {StoreInUseError} If another process has it.
 * @throws {StoreFileError} If the file is no whole database, or a newer version's. It stays as it is.
 */
export async function openKvStore(options: KvStoreOptions): Promise<KvStore> {
  const { path, clock, log, mustExist = false, openKv = Deno.openKv, space } = options;
  if (openKv === undefined) throw new Error("Cannot open the store: Deno was started without --unstable-kv");
  if (path === ":memory:") {
    const kv = await openKv(path);
    const none = () => Promise.resolve();
    const began = await beginGeneration(kv, path);
    return new KvStore({ kv, ...began, publish: none, release: none }, clock, log);
  }
  if (mustExist && !await isThere(path)) throw new StoreMissingError(resolve(path));
  const realPath = await realPathOf(path);
  const lock = await ProcessLock.take(realPath);
  let kv: Deno.Kv | null = null;
  try {
    for (const suffix of DATABASE_FILE_SUFFIXES) await restrictPermissions(realPath + suffix, log);
    await prepareDatabaseFile(realPath);
    kv = await openKv(realPath);
    const began = await beginGeneration(kv, realPath);
    const publish = (address: string | null) => lock.publish(address);
    return new KvStore({ kv, ...began, publish, release: () => lock.release(), space }, clock, log);
  } catch (error) {
    kv?.close();
    await lock.release();
    throw isOfDatabase(error) ? new StoreFileError(realPath, error.message, { cause: error }) : error;
  }
}

async function isThere(path: string): Promise<boolean> {
  try {
    await Deno.stat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** The path that the lock stands for, whichever way the database was named. */
async function realPathOf(path: string): Promise<string> {
  const folder = dirname(resolve(path));
  await makePrivateFolder(folder);
  try {
    return await Deno.realPath(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    return join(await Deno.realPath(folder), basename(path));
  }
}

/** Counts this open, which frees the leases of those before it. */
async function beginGeneration(
  kv: Deno.Kv,
  path: string,
): Promise<{ readonly generation: number; readonly notedAt: number | null }> {
  const [schema, last, noted] = await kv.getMany<[number, number, number]>([["schema"], ["generation"], ["clock"]]);
  if ((schema.value ?? SCHEMA) > SCHEMA) {
    throw new StoreFileError(path, `it is of a newer version: schema ${schema.value}, this one knows ${SCHEMA}`);
  }
  const generation = (last.value ?? 0) + 1;
  const written = await kv.atomic().check(schema, last).set(["schema"], SCHEMA).set(["generation"], generation)
    .commit();
  if (!written.ok) throw new StoreFileError(path, "it was changed while it was opened");
  return { generation, notedAt: noted.value };
}

// Deno KV throws plain errors with SQLite's words; errors of our own and of the system have names of their own.
function isOfDatabase(error: unknown): error is Error {
  return error instanceof Error && (error.name === "Error" || error.name === "TypeError");
}
