import { assertEquals, assertRejects } from "@std/assert";
import { type Log, silentLog } from "../../../src/platform/lib/basics/log.ts";
import { StoreFileError } from "../../../src/platform/store/kv/database_file.ts";
import { SCHEMA } from "../../../src/platform/store/kv/keys.ts";
import type { KvStore } from "../../../src/platform/store/kv/kv_store.ts";
import { openKvStore } from "../../../src/platform/store/kv/open_kv_store.ts";
import { incompleteNotes } from "../../../src/platform/store/incomplete.ts";
import { ManualClock } from "../../support/manual_clock.ts";

const open = (path: string, schema = SCHEMA, log: Log = silentLog): Promise<KvStore> =>
  openKvStore({ path, clock: new ManualClock(), log, schema });

async function inFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await run(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Copies the files of an open store, as they are when its process is killed. */
async function kill(from: string, to: string): Promise<void> {
  for (const suffix of ["", "-wal", "-shm"]) await Deno.copyFile(from + suffix, to + suffix).catch(() => {});
}

/** Waits until a file that is written now has a later time than another one: the system's clock of files is coarse. */
async function untilLater(path: string, probe: string): Promise<void> {
  const { ctime } = await Deno.stat(path);
  do await Deno.writeTextFile(probe, "probe"); while (Number((await Deno.stat(probe)).ctime) <= Number(ctime));
}

Deno.test("a version with the schema before refuses a store of this one", async () => {
  await inFolder(async (folder) => {
    await (await open(`${folder}/store.db`)).close();
    const message = `it is of a newer version: schema ${SCHEMA}, this one knows ${SCHEMA - 1}`;
    await assertRejects(() => open(`${folder}/store.db`, SCHEMA - 1), StoreFileError, message);
  });
});

Deno.test("a store of the schema before is opened, and refused by its version afterwards", async () => {
  await inFolder(async (folder) => {
    const old = await open(`${folder}/store.db`, SCHEMA - 1);
    await old.commit(null, { set: [{ key: ["k"], value: 1 }] });
    await old.close();
    const store = await open(`${folder}/store.db`);
    assertEquals((await store.get([["k"]]))[0]?.value, 1);
    await store.close();
    await assertRejects(() => open(`${folder}/store.db`, SCHEMA - 1), StoreFileError, "newer version");
  });
});

Deno.test("a killed store that an earlier version refused is whole", async () => {
  await inFolder(async (folder) => {
    const store = await open(`${folder}/store.db`);
    await store.commit(null, { set: [{ key: ["k"], value: 1 }] });
    await kill(`${folder}/store.db`, `${folder}/killed.db`);
    await store.close();
    await assertRejects(() => open(`${folder}/killed.db`, SCHEMA - 1), StoreFileError, "newer version");
    const again = await open(`${folder}/killed.db`);
    assertEquals((await again.get([["k"]]))[0]?.value, 1);
    assertEquals(await incompleteNotes(again), []);
    await again.close();
  });
});

Deno.test("a copy of a store in use without its log is found, also in the place of a closed store", async () => {
  await inFolder(async (folder) => {
    const store = await open(`${folder}/store.db`);
    await Deno.copyFile(`${folder}/store.db`, `${folder}/copy.db`);
    await (await open(`${folder}/closed.db`)).close();
    await untilLater(`${folder}/closed.db.lock`, `${folder}/probe`);
    await Deno.copyFile(`${folder}/store.db`, `${folder}/closed.db`);
    await store.close();
    for (const name of ["copy", "closed"]) {
      const opened = await open(`${folder}/${name}.db`);
      assertEquals((await incompleteNotes(opened)).map(({ missing }) => missing), ["write_ahead_log"], name);
      await opened.close();
    }
  });
});
