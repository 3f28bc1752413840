import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { addHold } from "../../../src/money/billing/hold.ts";
import { createAccount } from "../../../src/money/billing/accounts/account.ts";
import { verifyLedger } from "../../../src/money/billing/verify_ledger.ts";
import { storeCommand } from "../../../src/entry/cli/store/store_command.ts";
import { run } from "../../../src/entry/cli/run.ts";
import { UsageError } from "../../../src/entry/cli/usage_error.ts";
import { systemClock } from "../../../src/platform/lib/basics/clock.ts";
import { silentLog } from "../../../src/platform/lib/basics/log.ts";
import { Journal } from "../../../src/platform/store/journal/journal.ts";
import { fileSink } from "../../../src/platform/store/journal/file_sink.ts";
import { openKvStore } from "../../../src/platform/store/kv/open_kv_store.ts";
import { StoreInUseError } from "../../../src/platform/store/kv/process_lock.ts";
import { openPostgresStore } from "../../../src/platform/store/postgres/open_postgres_store.ts";
import { StoreUnusableError } from "../../../src/platform/store/store_unusable_error.ts";
import type { JobStore } from "../../../src/platform/store/store.ts";
import { startGatewayProcess } from "../../support/gateway_process.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway.ts";
import { itemAt, present } from "../../support/items.ts";
import { isPostgresWanted, type PostgresServer, startPostgres, withConnection } from "../../support/postgres_server.ts";
import { storeTimeOf } from "../../../src/platform/store/store_time.ts";

const BALANCE = 1_000_000n;

if (isPostgresWanted) {
  const server = await startPostgres();
  registerTests(server);
  Deno.test("store copy: the server is stopped", () => server.stop());
}

interface Stage {
  /** A folder of the test. */
  readonly folder: string;
  /** The address of a store in a file. */
  readonly from: string;
  /** The path of that store. */
  readonly path: string;
  /** The address of an empty database. */
  readonly to: string;
}

let databases = 0;

function overStores(server: PostgresServer, promise: string, work: (stage: Stage) => Promise<void>): void {
  Deno.test(`store copy: ${promise}`, async () => {
    const name = `copy_${++databases}`;
    await server.run(`create database ${name}`);
    const folder = await Deno.realPath(await Deno.makeTempDir());
    const path = `${folder}/store.db`;
    try {
      await work({ folder, path, from: `kv:${path}`, to: server.url(name) });
    } finally {
      await Deno.remove(folder, { recursive: true });
      await server.run(`drop database ${name} with (force)`);
    }
  });
}

async function withFile<T>({ path }: Stage, work: (store: JobStore) => Promise<T>): Promise<T> {
  const store = await openKvStore({ path, clock: systemClock, log: silentLog });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

async function withDatabase<T>({ to }: Stage, work: (store: JobStore) => Promise<T>): Promise<T> {
  const store = await openPostgresStore({ url: to, clock: systemClock, log: silentLog, lock: "alone" });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** Accounts with money, values of all kinds, names of operations and jobs. */
async function fill(store: JobStore): Promise<void> {
  await createAccount(store, { id: "acme", balance: BALANCE });
  const credit = { account: "größe", available: BALANCE, held: 0n };
  await store.commit(null, {
    changeBalances: [credit],
    ledgerEntries: [{ ...credit, operation: "credit", reference: "ß" }],
  });
  await store.commit("op-1", {
    ...addHold({}, { account: "acme", reference: "task_1", amount: 300n }, store.now()),
    set: [
      { key: ["t", "text\0zero", -1.5], value: { a: 1n, b: new Uint8Array([0, 255]), c: new Date(5), d: ["ß", null] } },
      { key: ["t", "expires"], value: "soon", ttlMs: 3_600_000 },
      { key: ["t", "expired"], value: "gone", ttlMs: 0 },
      { key: ["t", "long"], value: "x".repeat(50_000) },
    ],
    setOverdrafts: [{ account: "größe", overdraft: 12n }],
    addJobs: [{ kind: "k", ref: "leased", dueAt: storeTimeOf(1) }, {
      kind: "later",
      ref: "r",
      dueAt: storeTimeOf(32_503_680_000_000),
    }],
  });
  assertEquals((await store.claim(["k"], 1, 3_600_000)).length, 1);
  await store.commit(null, { set: Array.from({ length: 800 }, (_, n) => ({ key: ["many", n], value: n })) });
}

/** What is printed. */
async function copied(...args: string[]): Promise<string> {
  const lines: string[] = [];
  const original = console.log;
  console.log = (line: string) => void lines.push(line);
  try {
    assertEquals(await storeCommand(["copy", ...args]), 0);
  } finally {
    console.log = original;
  }
  return lines.join("\n");
}

async function contentOf(store: JobStore) {
  const values = [];
  for (const prefix of ["t", "many"]) {
    for (const { key, value } of await store.scan([prefix], { limit: 1_000 })) values.push({ key, value });
  }
  const accounts = [];
  for (const id of ["acme", "größe"]) {
    accounts.push({ balance: await store.balance(id), ledger: await store.ledger(id, { limit: 100 }) });
  }
  return { values, accounts, due: await store.jobDueTimes("later", ["r"]) };
}

async function chat({ address, key }: TestGateway): Promise<void> {
  const response = await fetch(`${address}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "sandbox/chat-1", messages: [{ role: "user", content: "hi" }] }),
  });
  assertEquals(response.status, 200);
  await response.body?.cancel();
}

async function balanceOf({ address, adminKey }: TestGateway): Promise<string> {
  const response = await fetch(`${address}/admin/v1/accounts/demo`, {
    headers: { authorization: `Bearer ${adminKey}` },
  });
  return (await response.json()).balance;
}

function registerTests(server: PostgresServer): void {
  overStores(server, "values, money, jobs and names of operations are in the database as they were", async (stage) => {
    const before = await withFile(stage, async (store) => {
      await fill(store);
      return await contentOf(store);
    });
    const printed = await copied(stage.from, stage.to);
    assertStringIncludes(printed, "3 ledger entries");
    assertStringIncludes(printed, "balances of 0.0001999700 USD available and 0.0000000300 USD held");
    assert(!printed.includes("are not the sum"), printed);
    await withDatabase(stage, async (store) => {
      assertEquals(await contentOf(store), before);
      assertEquals((await verifyLedger(store)).differences, []);
      assertEquals(await store.commit("op-1", {}), { ok: true, replayed: true });
      const job = itemAt(await store.claim(["k"], 10, 1_000), 0);
      assertEquals([job.ref, job.epoch, job.attempt], ["leased", 2, 1], "the lease ended with its process");
      const second = { account: "acme", operation: "hold", reference: "task_1", available: -1n, held: 1n };
      assertEquals(await store.commit(null, { ledgerEntries: [second] }), { ok: false, why: "duplicate", at: 0 });
    });
  });

  overStores(server, "charges that are only in the journal are in the copy", async (stage) => {
    await withFile(stage, (store) => createAccount(store, { id: "acme", balance: BALANCE }));
    const journal = new Journal({ log: silentLog });
    await Deno.mkdir(`${stage.path}.charges`);
    journal.open(fileSink(`${stage.path}.charges`), 1);
    journal.hold();
    journal.append('charge_1 acme [5,"text","req_1","acme/large","acme","10",null,"key_1"]');
    await journal.close();
    await copied(stage.from, stage.to);
    await withDatabase(stage, async (store) => {
      assertEquals((await store.balance("acme")).available, BALANCE - 10n);
      assertEquals((await verifyLedger(store)).differences, []);
    });
  });

  overStores(
    server,
    "a copy that was killed left nothing, and a repeat is complete and doubles nothing",
    async (stage) => {
      await withFile(stage, fill);
      assertEquals(await run(["store", "migrate", "--config", await configOf(stage)]), 0);
      await withConnection(stage.to, async (sql) => {
        await sql.begin(async (transaction) => {
          // The copy reads the table and waits before it writes to it, after all others.
          await transaction`lock table switchyard.job in share mode`;
          const copy = startGatewayProcess({ args: ["store", "copy", stage.from, stage.to], folder: stage.folder });
          await copy.until(/ledger entries copied/);
          copy.kill("SIGKILL");
          await copy.ended;
        });
        while ((await sql`select from pg_locks where locktype = 'advisory' limit 1`).length > 0) await sql`select 1`;
        assertEquals((await sql`select from switchyard.value`).length, 0);
      });
      assertStringIncludes(await copied(stage.from, stage.to), "The copy is complete");
      assertStringIncludes(await copied(stage.from, stage.to), "Replaced the earlier copy");
      await withDatabase(stage, async (store) => {
        assertEquals((await verifyLedger(store)).differences, []);
        assertEquals(await store.balance("acme"), { available: BALANCE - 300n, held: 300n });
        assertEquals((await store.scan(["many"], { limit: 1_000 })).length, 800);
      });
    },
  );

  overStores(server, "the lines are those of docs/scaling.md, apart from their figures", async (stage) => {
    await withFile(stage, fill);
    const page = await Deno.readTextFile(new URL("../../../docs/scaling.md", import.meta.url));
    const shown = present(/^\$ switchyard store copy .*\n([^`]+)```$/m.exec(page)?.[1], "the sample");
    const withoutFigures = (text: string) =>
      text.trim().replaceAll(/\d+(?:\.\d+)?/g, "0").replace(/set "store" to \S+/, 'set "store" to …');
    assertEquals(withoutFigures(await copied(stage.from, stage.to)), withoutFigures(shown));
  });

  overStores(server, "a repeat brings what the file has got since", async (stage) => {
    await withFile(stage, fill);
    await copied(stage.from, stage.to);
    await withFile(stage, (store) => createAccount(store, { id: "new", balance: 5n }));
    await copied(stage.from, stage.to);
    await withDatabase(stage, async (store) => assertEquals((await store.balance("new")).available, 5n));
  });

  overStores(server, "a running source, a foreign database and a copy in use are refused", async (stage) => {
    await withFile(stage, async (store) => {
      await fill(store);
      await assertRejects(() => copied(stage.from, stage.to), StoreInUseError, `in use by process ${Deno.pid}`);
    });
    await withDatabase(stage, async (store) => {
      await assertRejects(() => copied(stage.from, stage.to), StoreUnusableError, "another process uses it");
      await createAccount(store, { id: "other", balance: 1n });
    });
    await assertRejects(() => copied(stage.from, stage.to), StoreUnusableError, "not a copy of this store");
    await withDatabase(stage, async (store) => assertEquals((await store.balance("other")).available, 1n));
    await withConnection(stage.to, (sql) => sql`drop schema switchyard cascade`);
    await copied(stage.from, stage.to);
    await withDatabase(stage, (store) => createAccount(store, { id: "since", balance: 1n }));
    await assertRejects(() => copied(stage.from, stage.to), StoreUnusableError, "was used since");
    await withDatabase(stage, async (store) => assertEquals((await store.balance("since")).available, 1n));
  });

  overStores(server, "a gateway continues on the copy with the money and the keys of the file", async (stage) => {
    const config = { files: `${stage.folder}/files` };
    const first = await startTestGateway({ store: stage.from, config });
    await chat(first);
    await first.stop();
    await copied(stage.from, "--config", await configOf(stage));
    const second = await startTestGateway({ store: stage.to, config });
    const before = await balanceOf(second);
    assert(Number(before) < 25, before);
    await chat({ ...second, key: first.key });
    assert(Number(await balanceOf(second)) < Number(before));
    await second.stop();
    await assertRejects(() => copied(stage.from, stage.to), StoreUnusableError, "was used since");
  });

  overStores(server, "addresses that cannot be copied are named", async ({ from, to }) => {
    await assertRejects(() => copied(to, from), UsageError, "expected the address of a store in a file");
    await assertRejects(() => copied(from, from), UsageError, "expected postgres://… as the second address");
    await assertRejects(() => copied("kv::memory:", to), UsageError, "expected the address of a store in a file");
    await assertRejects(() => copied(from, to), Error, "there is none");
  });
}

/** A configuration with the database as its store. */
async function configOf({ folder, to }: Stage): Promise<string> {
  const file = `${folder}/switchyard.yaml`;
  await Deno.writeTextFile(file, `store: ${to}\n`);
  return file;
}
