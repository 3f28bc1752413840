import { silentLog } from "../../../src/platform/lib/basics/log.ts";
import { openKvStore } from "../../../src/platform/store/kv/open_kv_store.ts";
import { storeContract } from "../../contract/store.ts";

storeContract("kv store in memory", async (clock) => ({
  store: await openKvStore({ path: ":memory:", clock, log: silentLog }),
}));

storeContract("kv store in a file", async (clock) => {
  const folder = await Deno.makeTempDir();
  const open = () => openKvStore({ path: `${folder}/store.db`, clock, log: silentLog });
  let store = await open();
  const reopen = async () => {
    await store.close();
    return store = await open();
  };
  return { store, reopen, dispose: () => Deno.remove(folder, { recursive: true }) };
});
