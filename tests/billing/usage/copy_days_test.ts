import { systemClock } from "../../../src/platform/lib/basics/clock.ts";
import { silentLog } from "../../../src/platform/lib/basics/log.ts";
import { openKvStore } from "../../../src/platform/store/kv/open_kv_store.ts";
import { copyLongNames } from "./copy_laws.ts";

Deno.test("a day with many long names is copied: in a file", async () => {
  const folder = await Deno.makeTempDir();
  const store = await openKvStore({ path: `${folder}/store.db`, clock: systemClock, log: silentLog });
  try {
    await copyLongNames(store, systemClock);
  } finally {
    await store.close();
    await Deno.remove(folder, { recursive: true });
  }
});
