import { type MetricFamily, single } from "../../platform/lib/basics/metric_family.ts";
import { entriesBelow } from "../../platform/store/entries_below.ts";
import type { Store } from "../../platform/store/store.ts";
import { ACCOUNT_FILES } from "./records.ts";

/** The files that are counted. With more of them, the sums would cost too much, and are left out. */
const MAX_COUNTED = 50_000;

/** The files that callers have stored, and their bytes. They are those of all gateways on the store. */
export async function storedFileFamilies(store: Pick<Store, "scan">): Promise<MetricFamily[]> {
  let [count, bytes] = [0, 0];
  for await (const { value } of entriesBelow<number>(store, ACCOUNT_FILES)) {
    if (++count > MAX_COUNTED) return [];
    bytes += value;
  }
  return [
    single("gauge", "switchyard_stored_files", "Files of callers, and their open uploads.", count),
    single("gauge", "switchyard_stored_files_bytes", "Bytes that files of callers take of the accounts' room.", bytes),
  ];
}
