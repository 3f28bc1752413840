import { basename, dirname, join, resolve } from "node:path";
import type { Clock } from "../../lib/basics/clock.ts";
import type { Log } from "../../lib/basics/log.ts";
import { makePrivateFolder, restrictPermissions } from "../../lib/process/private_path.ts";
import {
  clearInUse,
  DATABASE_FILE_SUFFIXES,
  isClosedByItsUser,
  lacksItsLog,
  markInUse,
  placeWatch,
  prepareDatabaseFile,
  StoreFileError,
  StoreMissingError,
} from "./database_file.ts";
import { isSchemaKnown, SCHEMA } from "./keys.ts";
import { KvStore, type OwnedDatabase } from "./kv_store.ts";
import { ProcessLock } from "./process_lock.ts";
import { Late } from "../../lib/process/late.ts";

const incompleteModule = new Late(() => import("../incomplete.ts"));

/** The settings and dependencies of the Deno KV engine. */
export interface KvStoreOptions {
  /** The path of the database, or `:memory:`. A missing folder is created. */
  readonly path: string;
  /** The clock of all due times, leases and expiries. */
  readonly clock: Clock;
  readonly log: Log;
  /** Whether to fail if the database does not exist. Default false: it is created. */
  readonly mustExist?: boolean;
  /** The free space on the disk and the minimum. Default: not checked. */
  readonly space?: OwnedDatabase["space"];
  /** The version of what is stored that is known. Tests give that of an earlier version. */
  readonly schema?: number;
  /** Opens the database. Tests replace it to observe the database or to make it fail. */
  readonly openKv?: (path: string) => Promise<Deno.Kv>;
}

/**
 * Opens the Deno KV engine: one database file, used by this process alone and readable only by its owner.
 *
 * @throws {StoreMissingError} If it must exist and does not. Nothing is created.
 * @throws {StoreInUseError} If another process uses it.
 * @throws {StoreFileError} If the file is not a whole database, or a newer version's. The file is not changed.
 */
export async function openKvStore(options: KvStoreOptions): Promise<KvStore> {
  const { path, clock, log, mustExist = false, openKv = Deno.openKv, space, schema = SCHEMA } = options;
  if (openKv === undefined) throw new Error("Cannot open the store: Deno was started without --unstable-kv");
  if (path === ":memory:") {
    const kv = await openKv(path);
    const none = () => Promise.resolve();
    const opened = await beginGeneration(kv, path, schema);
    return new KvStore({ kv, ...opened, publish: none, onClose: () => {}, release: none }, clock, log);
  }
  if (mustExist && !await exists(path)) throw new StoreMissingError(resolve(path));
  const realPath = await realPathOf(path);
  const isClosed = await isClosedByItsUser(realPath); // the lock changes what it looks at
  const lock = await ProcessLock.take(realPath);
  let kv: Deno.Kv | null = null;
  try {
    for (const suffix of DATABASE_FILE_SUFFIXES) await restrictPermissions(realPath + suffix, log);
    await prepareDatabaseFile(realPath);
    const isIncomplete = !isClosed && await lacksItsLog(realPath);
    kv = await openKv(realPath);
    const opened = await beginGeneration(kv, realPath, schema);
    markInUse(realPath);
    const publish = (address: string | null) => lock.publish(address);
    const isInPlace = placeWatch(realPath);
    const onClose = () => {
      if (isInPlace()) clearInUse(realPath); // else it would make a new file
    };
    const release = () => lock.release();
    const owned = { kv, ...opened, publish, onClose, release, isInPlace, ...(space && { space }) };
    const store = new KvStore(owned, clock, log);
    if (isIncomplete) {
      log.error("store_incomplete", { path: realPath, reason: INCOMPLETE_REASON });
      await (await incompleteModule.load()).noteIncomplete(store, "write_ahead_log");
    }
    return store;
  } catch (error) {
    kv?.close();
    await lock.release();
    throw isOfDatabase(error) ? new StoreFileError(realPath, error.message, { cause: error }) : error;
  }
}

const INCOMPLETE_REASON = "the file was copied while a gateway used it, without its write-ahead log (-wal): its last " +
  'commits are missing; "switchyard backup" copies a store that is in use';

async function exists(path: string): Promise<boolean> {
  try {
    await Deno.stat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** The real path, which the lock uses whatever path names the database. */
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

/** Increases the generation, which ends the leases of earlier ones. */
async function beginGeneration(
  kv: Deno.Kv,
  path: string,
  known: number,
): Promise<{ readonly generation: number; readonly clockWrittenAt: number | null }> {
  const [schema, last, clock] = await kv.getMany<[number, number, number]>([["schema"], ["generation"], ["clock"]]);
  if (!isSchemaKnown(schema.value, known)) {
    throw new StoreFileError(path, `it is of a newer version: schema ${schema.value}, this one knows ${known}`);
  }
  const generation = (last.value ?? 0) + 1;
  const written = await kv.atomic().check(schema, last).set(["schema"], known).set(["generation"], generation)
    .commit();
  if (!written.ok) throw new StoreFileError(path, "it was changed while it was opened");
  return { generation, clockWrittenAt: clock.value };
}

// Deno KV throws plain errors with messages of SQLite. Errors of the gateway and of the system have other names.
function isOfDatabase(error: unknown): error is Error {
  return error instanceof Error && (error.name === "Error" || error.name === "TypeError");
}
