import { assert, assertEquals, assertGreater, assertStringIncludes } from "@std/assert";
import { systemClock } from "../../../src/platform/lib/basics/clock.ts";
import { silentLog } from "../../../src/platform/lib/basics/log.ts";
import { openKvStore } from "../../../src/platform/store/kv/open_kv_store.ts";
import type { Store } from "../../../src/platform/store/store.ts";
import { atLeast, itemAt } from "../../support/items.ts";
import { storeTimeOf } from "../../../src/platform/store/store_time.ts";

const open = (path: string) => openKvStore({ path, clock: systemClock, log: silentLog });

function startWriter(path: string): Deno.ChildProcess {
  const child = new URL("./writer_child.ts", import.meta.url);
  const args = [
    "run",
    "--quiet",
    "--allow-read",
    `--allow-write=${path.slice(0, path.lastIndexOf("/"))}`,
    "--unstable-kv",
  ];
  return new Deno.Command(Deno.execPath(), { args: [...args, child.pathname, path], stdout: "piped" }).spawn();
}

/** Reads lines of a child and kills it after this many. */
async function linesUntilKilled(child: Deno.ChildProcess, count: number): Promise<string[]> {
  let text = "";
  let isKilled = false;
  for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (isKilled || text.split("\n").length <= count) continue;
    child.kill("SIGKILL");
    isKilled = true;
  }
  await child.status;
  return text.split("\n").slice(0, -1);
}

Deno.test("kill -9 loses no acknowledged commit, tears none and frees the leases, round after round", async () => {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/store.db`;
  const acknowledged = new Set<number>();
  for (let round = 0; round < 3; round++) {
    const before = await open(path);
    if (round === 0) await before.commit(null, { addJobs: [{ kind: "takeover", ref: "t", dueAt: storeTimeOf(0) }] });
    await before.close();
    const lines = await linesUntilKilled(startWriter(path), 60 + 40 * round);
    assertEquals(lines[0], "claimed 1");
    for (const line of lines) if (line.startsWith("wrote ")) acknowledged.add(Number(line.slice(6)));

    const store = await open(path);
    await assertWhole(store, acknowledged);
    const [job] = await store.claim(["takeover"], 9, 600_000);
    assertEquals([job?.ref, job?.epoch, job?.attempt], ["t", 2 * round + 2, 2 * round + 1]);
    await store.close();
  }
  assertGreater(acknowledged.size, 150);
  await Deno.remove(folder, { recursive: true });
});

async function assertWhole(store: Store, acknowledged: ReadonlySet<number>): Promise<void> {
  const [first, second] = atLeast(
    await Promise.all(
      ["first", "second"].map((name) => store.scan<number>([name], { limit: 100_000 })),
    ),
    2,
  );
  const written = first.map(({ value }) => value);
  assertEquals(second.map(({ value }) => value), written);
  const found = new Set(written);
  for (const n of acknowledged) assert(found.has(n), `the acknowledged commit ${n} is there`);
  const lines = await store.ledger("a", { limit: 100_000 });
  assertEquals(lines.map(({ reference }) => Number(reference)).toSorted((a, b) => a - b), written);
  const available = written.reduce((sum, n) => sum + BigInt(n), 0n);
  assertEquals(await store.balance("a"), { available, held: BigInt(written.length) });
  const again = await store.commit(`write ${written[0]}`, { set: [{ key: ["first", -1], value: -1 }] });
  assertEquals(again, { ok: true, replayed: true });
}

Deno.test("a second process is refused with the process id of the first", async () => {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/store.db`;
  const store = await open(path);
  await store.commit(null, { set: [{ key: ["k"], value: 1 }] });
  const lines = await linesUntilKilled(startWriter(path), Infinity);
  const realPath = await Deno.realPath(path);
  assertEquals(lines.length, 1);
  assertStringIncludes(lines.join(), `failed Cannot open the store "${realPath}": it is in use by process ${Deno.pid}`);
  assertEquals((await store.get([["k"]]))[0]?.value, 1);
  await store.close();
  await Deno.remove(folder, { recursive: true });
});

Deno.test("opening the database ends all leases without changing a job", async () => {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/store.db`;
  const before = await open(path);
  const refs = Array.from({ length: 600 }, (_, n) => String(n));
  for (let from = 0; from < refs.length; from += 100) {
    await before.commit(null, {
      addJobs: refs.slice(from, from + 100).map((ref) => ({ kind: "k", ref, dueAt: storeTimeOf(0) })),
    });
  }
  const late = itemAt(await before.claim(["k"], 400, 600_000), 0);
  await before.close();

  const after = await open(path);
  assertEquals(after.counts.atomics, 0);
  assertEquals(await after.commit(null, { completeJobs: [late] }), { ok: false, why: "fenced", at: 0 });
  const claimed = await after.claim(["k"], 1_000, 600_000);
  assertEquals(claimed.length, 600);
  assertEquals(claimed.slice(0, 400).filter(({ epoch, attempt }) => epoch === 2 && attempt === 1).length, 400);
  assertEquals(claimed.slice(400).filter(({ epoch, attempt }) => epoch === 1 && attempt === 0).length, 200);
  assertEquals(await after.claim(["k"], 1_000, 600_000), []);
  await after.close();
  await Deno.remove(folder, { recursive: true });
});
