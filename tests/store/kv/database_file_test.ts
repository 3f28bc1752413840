import { assert, assertEquals, assertRejects } from "@std/assert";
import { silentLog } from "../../../src/platform/lib/basics/log.ts";
import { StoreFileError } from "../../../src/platform/store/kv/database_file.ts";
import type { KvStore } from "../../../src/platform/store/kv/kv_store.ts";
import { openKvStore } from "../../../src/platform/store/kv/open_kv_store.ts";
import { StoreInUseError } from "../../../src/platform/store/kv/process_lock.ts";
import { ManualClock } from "../../support/manual_clock.ts";

const open = (path: string): Promise<KvStore> => openKvStore({ path, clock: new ManualClock(), log: silentLog });

async function inFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await run(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Opening fails with the reason, does not change the file, and releases the lock. */
async function refuses(path: string, reason: string): Promise<void> {
  const before = await Deno.readFile(path).catch(() => null);
  const error = await assertRejects(() => open(path), StoreFileError, reason);
  assert(!error.message.includes("\n"));
  assertEquals(await Deno.readFile(path).catch(() => null), before);
  await assertRejects(() => open(path), StoreFileError);
}

Deno.test("openKvStore() creates the folder and the database", async () => {
  await inFolder(async (folder) => {
    const store = await open(`${folder}/a/b/store.db`);
    await store.commit(null, { set: [{ key: ["k"], value: 1 }] });
    await store.close();
    const again = await open(`${folder}/a/b/store.db`);
    assertEquals((await again.get([["k"]]))[0]?.value, 1);
    await again.close();
  });
});

Deno.test("openKvStore() refuses a file that is not a database and does not change it", async () => {
  await inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/notes.txt`, "these are my notes\n".repeat(400));
    await refuses(`${folder}/notes.txt`, "the file is not a database");
    await Deno.writeFile(`${folder}/empty.db`, new Uint8Array());
    await refuses(`${folder}/empty.db`, "the file is empty");
    await Deno.mkdir(`${folder}/folder.db`);
    await assertRejects(() => open(`${folder}/folder.db`), StoreFileError, "it is not a file");
  });
});

Deno.test("openKvStore() refuses a truncated database of any length", async () => {
  await inFolder(async (folder) => {
    const path = `${folder}/store.db`;
    const store = await open(path);
    await store.commit(null, {
      set: Array.from({ length: 200 }, (_, n) => ({ key: ["k", n], value: "x".repeat(500) })),
    });
    await store.close();
    const { size } = await Deno.stat(path);
    for (const length of [size - 1, Math.floor(size / 2), 4_096, 99]) {
      await Deno.truncate(path, length);
      await refuses(path, "the file is cut short");
    }
    await Deno.truncate(path, 10);
    await refuses(path, "the file is not a database");
  });
});

Deno.test("openKvStore() refuses a database whose pages are garbage", async () => {
  await inFolder(async (folder) => {
    const path = `${folder}/store.db`;
    await (await open(path)).close();
    const bytes = await Deno.readFile(path);
    await Deno.writeFile(path, bytes.fill(0x5a, 100));
    await refuses(path, "Cannot open the store");
  });
});

Deno.test("openKvStore() creates no database beside the log of another", async () => {
  await inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/store.db-wal`, "log");
    await refuses(`${folder}/store.db`, "the file is missing");
    await assertRejects(() => Deno.stat(`${folder}/store.db`), Deno.errors.NotFound);
  });
});

Deno.test("openKvStore() replaces what a killed first start left", async () => {
  await inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/store.db.new`, "half");
    const store = await open(`${folder}/store.db`);
    assert((await store.commit(null, {})).ok);
    await store.close();
  });
});

Deno.test("openKvStore() refuses a database of a newer version", async () => {
  await inFolder(async (folder) => {
    const path = `${folder}/store.db`;
    await (await open(path)).close();
    const kv = await Deno.openKv(path);
    await kv.set(["schema"], 99);
    kv.close();
    const error = await assertRejects(() => open(path), StoreFileError, "newer version");
    assertEquals(error.path, await Deno.realPath(path));
  });
});

Deno.test("openKvStore() refuses a database that this process has open, by any of its names", async () => {
  await inFolder(async (folder) => {
    const store = await open(`${folder}/store.db`);
    await Deno.symlink(`${folder}/store.db`, `${folder}/link.db`);
    for (
      const path of [`${folder}/store.db`, `${folder}/../${folder.split("/").at(-1)}/store.db`, `${folder}/link.db`]
    ) {
      const error = await assertRejects(() => open(path), StoreInUseError, `it is in use by process ${Deno.pid}`);
      assertEquals(error.holder, Deno.pid);
    }
    await store.commit(null, { set: [{ key: ["k"], value: 1 }] });
    await store.close();
    await (await open(`${folder}/link.db`)).close();
  });
});

Deno.test("a store whose file was moved or replaced takes no paid work until the file is back", async () => {
  await inFolder(async (folder) => {
    const path = `${folder}/data/store.db`;
    const clock = new ManualClock();
    const store = await openKvStore({ path, clock, log: silentLog });
    const failure = () => {
      clock.advance(1_000);
      return store.writeGuard.failure?.slice(0, 21) ?? null;
    };
    assertEquals([failure(), await store.isReady()], [null, true]);
    await Deno.rename(`${folder}/data`, `${folder}/away`);
    assertEquals([failure(), await store.isReady()], ["the file of the store", false]);
    await Deno.mkdir(`${folder}/data`);
    await Deno.writeTextFile(path, "another file");
    assertEquals(failure(), "the file of the store");
    await Deno.remove(`${folder}/data`, { recursive: true });
    await Deno.rename(`${folder}/away`, `${folder}/data`);
    assertEquals([failure(), await store.isReady()], [null, true]);
    await Deno.rename(`${folder}/data`, `${folder}/away`);
    await Deno.mkdir(`${folder}/data`);
    await store.close();
    assertEquals([...Deno.readDirSync(`${folder}/data`)], [], "the end of the store makes no other file");
  });
});
