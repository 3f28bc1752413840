import { loadConfig } from "../../../config/load_config.ts";
import { storeAddressOf } from "../../../config/tree/store_address.ts";
import { systemClock } from "../../../platform/lib/basics/clock.ts";
import { silentLog } from "../../../platform/lib/basics/log.ts";
import { writeMoney } from "../../../platform/lib/basics/money.ts";
import { copyStore, type StoreCopy } from "../../../platform/store/copy/copy_store.ts";
import { openKvStore } from "../../../platform/store/kv/open_kv_store.ts";
import { placeOf } from "../../../platform/store/postgres/database.ts";
import { environmentOf } from "../environment.ts";
import { print } from "../print.ts";
import { withReplayedJournal } from "./stopped_store.ts";
import { UsageError } from "../usage_error.ts";
import { parseOptions } from "../command_options.ts";

/**
 * Runs `store copy kv:PATH [postgres://…] [--config FILE]`: copies the store of a stopped gateway into a PostgreSQL
 * database. Without an address the database is the setting `store`, so that its password need not be on a command line.
 *
 * @returns The exit code.
 * @throws {StoreInUseError} If a gateway uses the file.
 * @throws What `openKvStore` and `copyStore` throw.
 */
export async function storeCopyCommand(args: readonly string[]): Promise<number> {
  const { from, path, url } = addressesIn(args);
  const opened: Deno.Kv[] = [];
  const openKv = async (at: string) => {
    const kv = await Deno.openKv(at);
    opened.push(kv);
    return kv;
  };
  const store = await withReplayedJournal(
    { store: from, files: "" }, // the journal of a store in a file is beside the file
    await openKvStore({ path, clock: systemClock, log: silentLog, mustExist: true, openKv }),
  );
  try {
    const [kv] = opened;
    if (kv === undefined) throw new Error("Cannot copy the store: it was not opened");
    const onProgress = (rows: string, count: number) => print(`${count} ${rows} copied`);
    printSummary(placeOf(url), await copyStore({ store, kv, url, onProgress }));
    return 0;
  } finally {
    await store.close();
  }
}

function addressesIn(args: readonly string[]): { readonly from: string; readonly path: string; readonly url: string } {
  const { values, positionals } = parseOptions("store copy", args, {
    options: { config: { type: "string" } },
    allowPositionals: true,
  });
  const [from = "", to, ...more] = positionals;
  const source = storeAddressOf(from);
  if (!from.startsWith("kv:") || source.engine !== "kv" || more.length > 0) {
    throw new UsageError(
      "switchyard store copy: expected the address of a store in a file, such as " +
        "kv:./data/switchyard.db, and that of a database, postgres://…",
    );
  }
  const address = to ?? loadConfig({ path: values.config, env: environmentOf(values.config) }).store;
  if (!/^postgres(ql)?:\/\//.test(address)) {
    throw new UsageError(
      `switchyard store copy: expected postgres://… as the second address${to === undefined ? ' or as "store"' : ""}`,
    );
  }
  return { from, path: source.path, url: address };
}

function printSummary(place: string, { counts, available, held, unequalAccounts, isRepeated }: StoreCopy): void {
  const rows = [...counts].map(([name, count]) => `${count} ${name}`).join(", ");
  print(`Compared: ${rows}; balances of ${writeMoney(available)} USD available and ${writeMoney(held)} USD held`);
  if (unequalAccounts > 0) {
    print(
      `The balances of ${unequalAccounts} accounts are not the sum of their entries, as before the copy; ` +
        '"switchyard ledger verify" names them',
    );
  }
  print(
    `${isRepeated ? "Replaced the earlier copy" : "The copy is complete"}: set "store" to ${place} and start the ` +
      "gateway there. Do not start one on the file again: what it did would not be in the database",
  );
}
