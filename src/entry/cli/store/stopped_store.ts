import { noteMissingJournal, replayJournal } from "../../app/journal/charge_journal.ts";
import { openStore } from "../../app/opening/store.ts";
import type { Config } from "../../../config/config.ts";
import { DEV_STORE } from "../../../config/dev_config.ts";
import { storeAddressOf } from "../../../config/tree/store_address.ts";
import { systemClock } from "../../../platform/lib/basics/clock.ts";
import { type Log, silentLog } from "../../../platform/lib/basics/log.ts";
import { StoreMissingError } from "../../../platform/store/kv/database_file.ts";
import { readStoreHolder } from "../../../platform/store/kv/process_lock.ts";
import type { StoreEngine } from "../../../platform/store/engine.ts";
import { pathOf } from "../find/find_gateway.ts";
import { printError } from "../print.ts";

/**
 * Opens the store of a gateway that does not run. The charges in its journal are written to its ledger. Nothing else is
 * migrated or created: that is left to the gateway.
 *
 * @throws {StoreMissingError} If the store does not exist and `mustExist` is set, or if it is a store in memory.
 * @throws {StoreInUseError} If another process has it.
 */
export async function openStoppedStore(
  config: Config,
  { mustExist }: { readonly mustExist: boolean },
): Promise<StoreEngine> {
  try {
    if (storeAddressOf(config.store).engine === "memory") throw new StoreMissingError(config.store);
    const store = await openStore(config, { clock: systemClock, log: silentLog, mustExist });
    return await withReplayedJournal(config, store);
  } catch (error) {
    if (!(error instanceof StoreMissingError)) throw error;
    throw new StoreMissingError(error.path, await missingStoreMessage(config));
  }
}

/**
 * Writes the charges in the journal of a store to its ledger. Records that cannot be charged are named in the error
 * output. If it fails, the store is closed.
 */
export async function withReplayedJournal<T extends StoreEngine>(
  config: Pick<Config, "store" | "files">,
  store: T,
): Promise<T> {
  const log = commandLog;
  try {
    await noteMissingJournal({ config, store, log });
    await replayJournal({ config, store, log });
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Prints errors to the error output. */
export const commandLog: Log = {
  ...silentLog,
  error: (event, { path, reason } = {}) => printError(`${event}: ${path}: ${reason}`),
};

/**
 * The real path of the configured store, whether or not a gateway uses it.
 *
 * @throws {StoreMissingError} If there is none, or it is in memory.
 */
export async function existingStorePath(config: Config): Promise<string> {
  const path = pathOf(config.store);
  if (path !== null && await fileExists(path)) return await Deno.realPath(path);
  const message = path === null
    ? "A store in memory exists only while its gateway runs, and cannot be backed up"
    : `There is no store at "${path}" (setting "store"); run the command where the gateway has its files`;
  throw new StoreMissingError(config.store, message + await devHint(config));
}

/** Whether a file exists. */
export async function fileExists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

/** One line that says why there is no store to read, and what to do. */
async function missingStoreMessage(config: Config): Promise<string> {
  const path = pathOf(config.store);
  if (path === null) return "No gateway runs, and a store in memory exists only while its gateway runs";
  const hint = await devHint(config) || '; "switchyard accounts create ID" creates one';
  return `No gateway runs, and there is no store at "${path}" (setting "store")${hint}`;
}

/** What to do if the store of `dev` may be meant; empty if there is none. */
async function devHint(config: Config): Promise<string> {
  const path = config.store === DEV_STORE ? null : pathOf(DEV_STORE);
  if (path === null || !await fileExists(path)) return "";
  const isRunning = await readStoreHolder(path).catch(() => null) !== null;
  const advice = isRunning ? "name no configuration and no store" : 'start "switchyard dev"';
  return `; to use the store of "switchyard dev", ${path}, ${advice}`;
}
