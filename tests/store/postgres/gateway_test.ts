import { assert, assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { systemClock } from "../../../src/platform/lib/basics/clock.ts";
import { GatewayError } from "../../../src/platform/lib/basics/gateway_error.ts";
import { silentLog } from "../../../src/platform/lib/basics/log.ts";
import { DATABASE_LOCK } from "../../../src/platform/store/postgres/database_lock.ts";
import { openPostgresStore } from "../../../src/platform/store/postgres/open_postgres_store.ts";
import { StoreUnusableError } from "../../../src/platform/store/store_unusable_error.ts";
import { run } from "../../../src/entry/cli/run.ts";
import { startTestGateway, type TestGateway, textModel } from "../../support/gateway.ts";
import { callerOf, type GatewayCall } from "../../support/gateway_call.ts";
import { type GatewayProcess, startGatewayProcess } from "../../support/gateway_process.ts";
import { itemAt } from "../../support/items.ts";
import { always, chatReply, startScriptedUpstream } from "../../support/scripted_upstream.ts";
import { startLiveGateway } from "../../support/live_gateway.ts";
import { startVideoGateway } from "../../support/video_gateway.ts";
import { isPostgresWanted, type PostgresServer, startPostgres, withConnection } from "../../support/postgres_server.ts";
import { ROOT } from "../../webhooks/certificates.ts";
import { respondWith, startReceiver } from "../../webhooks/receiver.ts";
import { quickClock } from "./quick_clock.ts";
import { untilSo } from "../../support/patience.ts";

const ADMIN_KEY = "admin-key-of-the-operator-1";
const START_KEY = "sk-anna-0123456789abcdef";

if (isPostgresWanted) {
  const server = await startPostgres();
  registerTests(server);
  Deno.test("gateway on PostgreSQL: the server is stopped", () => server.stop());
}

async function withFiles<T>(run: (files: string) => Promise<T>): Promise<T> {
  const folder = await Deno.makeTempDir();
  try {
    return await run(`${folder}/files`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Sends a chat request and reads its answer. */
async function chat({ address, key }: TestGateway): Promise<number> {
  const response = await fetch(`${address}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "sandbox/chat-1", messages: [{ role: "user", content: "hi" }] }),
  });
  await response.body?.cancel();
  return response.status;
}

/** Sends a request of the responses protocol that a vendor of another format answers. */
async function respond({ address, key }: TestGateway, input: unknown) {
  const response = await fetch(`${address}/v1/responses`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "acme/m", input }),
  });
  const body: { output: { id: string }[] } = await response.json();
  return { status: response.status, body };
}

async function balanceOf({ address, adminKey }: Pick<TestGateway, "address" | "adminKey">): Promise<number> {
  const response = await fetch(`${address}/admin/v1/accounts/demo`, {
    headers: { authorization: `Bearer ${adminKey}` },
  });
  return Number((await response.json()).balance);
}

/** The sessions of a database that wait for its lock, or have it. */
function sessionsAt(url: string, isGranted: boolean): Promise<number> {
  return withConnection(url, async (sql) => {
    const [row] = await sql<{ count: number }[]>`
      select count(*)::int as count from pg_locks
      where locktype = 'advisory' and granted = ${isGranted} and objid = ${DATABASE_LOCK}::bigint::oid
        and database = (select oid from pg_database where datname = current_database())`;
    return row?.count ?? 0;
  });
}

function registerTests(server: PostgresServer): void {
  const store = server.url("postgres");

  Deno.test("gateway on PostgreSQL: an item of a reply is found by the next gateway, also in threads", async () => {
    const vendor = startScriptedUpstream(always(chatReply("hello", { prompt: 10, completion: 5 })));
    for (const isolates of [1, 2]) {
      await withFiles(async (files) => {
        const acme = { kind: "openai", base_url: vendor.baseUrl, api_key: "key-of-the-provider", speaks: "chat" };
        const options = {
          store,
          config: { files, server: { isolates }, providers: { acme }, models: [textModel("acme/m", ["acme"])] },
        };
        const first = await startTestGateway(options);
        const reply = await respond(first, "hi");
        const id = itemAt(reply.body.output, 0).id;
        await first.stop();
        const next = await startTestGateway(options);
        const input = [{ type: "item_reference", id }, { role: "user", content: "and" }];
        assertEquals((await respond(next, input)).status, 200);
        assertEquals((await respond(next, [{ type: "item_reference", id: `${id}0` }])).status, 400);
        await next.stop();
      });
    }
    await vendor.stop();
  });

  Deno.test("gateway on PostgreSQL: a text is charged, also after a restart, and nobody can have the database alone", async () => {
    await withFiles(async (files) => {
      const options = { store, config: { files } };
      const gateway = await startTestGateway(options);
      assertEquals(await chat(gateway), 200);
      const charged = await balanceOf(gateway);
      assert(charged < 25, String(charged));
      const second = { url: store, clock: systemClock, log: silentLog, lock: "alone" as const };
      await assertRejects(() => openPostgresStore(second), StoreUnusableError, "another process uses it");
      await gateway.stop();
      const again = await startTestGateway(options);
      assertEquals(await balanceOf(again), charged);
      await again.stop();
    });
  });

  Deno.test("gateway on PostgreSQL: a request is found in the log of the database, also after a restart", async () => {
    await withFiles(async (files) => {
      const options = { store, config: { files } };
      const gateway = await startTestGateway(options);
      assertEquals(await chat(gateway), 200);
      const list = async ({ address, adminKey }: TestGateway) => {
        const headers = { authorization: `Bearer ${adminKey}` };
        const listed = await fetch(`${address}/admin/v1/requests?account=demo&limit=1`, { headers });
        return (await listed.json()).data[0];
      };
      const row = await list(gateway);
      assertEquals([row.status, row.model], [200, "sandbox/chat-1"]);
      await gateway.stop();
      const again = await startTestGateway(options);
      assertEquals((await list(again)).id, row.id);
      await again.stop();
      const left = [...Deno.readDirSync(files.slice(0, files.lastIndexOf("/")))].map(({ name }) => name);
      assertEquals(left.filter((name) => name.includes("requests")), []);
    });
  });

  Deno.test("gateway on PostgreSQL: a second gateway waits as standby, then has the keys, balances and tasks", async () => {
    await server.run("create database standby");
    await withFiles(async (files) => {
      const options = { store: server.url("standby"), config: { files } };
      const gateway = await startTestGateway(options);
      assertEquals(await chat(gateway), 200);
      const charged = await balanceOf(gateway);
      let isStarted = false;
      const waiting = startTestGateway({ ...options, sharing: { isStandby: true } }).then((second) => {
        isStarted = true;
        return second;
      });
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      assertEquals(isStarted, false);
      assertEquals(await chat(gateway), 200);
      await gateway.stop();
      const second = await waiting;
      assertEquals(await chat({ ...second, key: gateway.key }), 200);
      assert(await balanceOf(second) < charged);
      await second.stop();
    });
  });

  Deno.test("serve --standby: after kill -9 the next process has the balance and the revocations; a signal ends the wait", async () => {
    await server.run("create database killed");
    const folder = await Deno.makeTempDir();
    const vendor = startScriptedUpstream(always(chatReply("hello", { prompt: 10, completion: 5 })));
    const config = {
      server: { port: 0, admin_key: ADMIN_KEY },
      accounts: [{ id: "demo", balance: "25.00", keys: [START_KEY] }],
      providers: { acme: { kind: "openai", base_url: vendor.baseUrl, api_key: "key-of-the-provider", speaks: "chat" } },
      models: [textModel("acme/m", ["acme"])],
      store: server.url("killed"),
    };
    const start = async (name: string) => {
      const file = `${folder}/${name}.json`;
      await Deno.writeTextFile(file, JSON.stringify({ ...config, files: `${folder}/${name}` }));
      return startGatewayProcess({ args: ["serve", "--config", file, "--standby"], folder });
    };
    const callOf = async (child: GatewayProcess) =>
      callerOf(itemAt(await child.until(/is ready at (\S+)/), 1), { authorization: `Bearer ${ADMIN_KEY}` });
    const body = { model: "acme/m", max_tokens: 5, messages: [{ role: "user", content: "hello" }] };
    const statusFor = async (call: GatewayCall, key: string) =>
      (await call("POST", "/v1/chat/completions", body, { authorization: `Bearer ${key}` })).status;

    const first = await start("first");
    const call = await callOf(first);
    const second = await start("second");
    const third = await start("third");
    const living = new Set([first, second, third]);
    const end = (child: GatewayProcess, signal: Deno.Signal) => {
      living.delete(child);
      child.kill(signal);
      return child.ended;
    };
    try {
      for (let i = 0; i < 5; i++) assertEquals(await statusFor(call, START_KEY), 200);
      const created = await call("POST", "/admin/v1/accounts/demo/keys", { name: "ci" });
      assertEquals(await statusFor(call, created.json.secret), 200);
      assertEquals((await call("DELETE", `/admin/v1/accounts/demo/keys/${created.json.id}`)).status, 200);
      const { balance } = (await call("GET", "/admin/v1/accounts/demo")).json;
      assertEquals(Number(balance), 25 - 6 * 20 / 1e6);
      while (!second.log().includes('"standby"') || !third.log().includes('"standby"')) {
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      assertEquals((await end(third, "SIGTERM")).code, 0);
      await end(first, "SIGKILL");
      const next = await callOf(second);
      assertEquals((await next("GET", "/admin/v1/accounts/demo")).json.balance, balance);
      assertEquals(await statusFor(next, created.json.secret), 401);
      assertEquals(await statusFor(next, START_KEY), 200);
    } finally {
      await Promise.all([...living].map((child) => end(child, "SIGKILL")));
      await vendor.stop();
      await Deno.remove(folder, { recursive: true });
    }
  });

  Deno.test("gateway on PostgreSQL: the lock is taken again after a crash of the server", async () => {
    await server.run("create database relocked");
    const options = { url: server.url("relocked"), clock: quickClock(20), log: silentLog, lock: "alone" as const };
    const first = await openPostgresStore(options);
    await server.crash();
    while (!await first.isReady() || await sessionsAt(options.url, true) === 0) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await assertRejects(() => openPostgresStore(options), StoreUnusableError, "another process uses it");
    assertEquals((await first.commit(null, { set: [{ key: ["a"], value: 1 }] })).ok, true);
    await first.close();
  });

  Deno.test("gateway on PostgreSQL: one that lost its lock to another changes nothing, and reports it once", async () => {
    await server.run("create database lost");
    const url = server.url("lost");
    const lost = Promise.withResolvers<void>();
    let losses = 0;
    const onLost = () => {
      losses++;
      lost.resolve();
    };
    const options = { url, clock: quickClock(20), log: silentLog, lock: "alone" as const };
    const first = await openPostgresStore({ ...options, onLost });
    await withConnection(url, async (other) => {
      const taking = other`select pg_advisory_lock(${DATABASE_LOCK}::bigint)`.execute();
      await untilSo(async () => await sessionsAt(url, false) !== 0);
      await server.run(
        "select pg_terminate_backend(pid) from pg_locks join pg_database d on d.oid = database " +
          `where locktype = 'advisory' and granted and objid = ${DATABASE_LOCK} and datname = 'lost'`,
      );
      await taking;
      await lost.promise;
      await assertRejects(() => first.commit(null, { set: [{ key: ["a"], value: 1 }] }), Error, "another process");
      await assertRejects(() => first.claim(["job"], 1, 1_000), Error, "another process");
      assertThrows(() => void first.writeGuard.check(), GatewayError);
      assertEquals(await first.isReady(), false);
    });
    // The other one has ended, but what this one holds in memory can be outdated.
    await assertRejects(() => first.commit(null, { set: [{ key: ["a"], value: 1 }] }), Error, "another process");
    assertEquals(losses, 1);
    await first.close();
  });

  Deno.test("gateway on PostgreSQL: without the server calls get 503 also when no key is known, until it is back", async () => {
    for (const isolates of [1, 2]) {
      await withFiles(async (files) => {
        const config = { files, server: { isolates } };
        const gateway = await startTestGateway({ store, config });
        assertEquals(await chat(gateway), 200);
        await server.whileDown(async () => {
          // A key is cached for five seconds. Threads admit calls within their part of the account until they are told.
          const until = Date.now() + (isolates === 1 ? 6_000 : 0);
          const statuses = new Set<number>();
          do statuses.add(await chat(gateway)); while (Date.now() < until || !statuses.has(503));
          // A call that was admitted before the gateway noticed is charged from the journal.
          assertEquals([...statuses.difference(new Set([200]))], [503]);
        });
        await untilSo(async () => await chat(gateway) === 200);
        await gateway.stop();
      });
    }
  });

  Deno.test("gateway on PostgreSQL: after a crash of the server requests are served again", async () => {
    await withFiles(async (files) => {
      const gateway = await startTestGateway({ store, config: { files } });
      assertEquals(await chat(gateway), 200);
      await server.crash();
      for (let status = 0; status !== 200;) status = await chat(gateway);
      await gateway.stop();
    });
  });

  Deno.test("gateway on PostgreSQL: a video task ends, is charged, and its webhook is delivered", async () => {
    await server.run("create database videos");
    const caFile = await Deno.makeTempFile();
    await Deno.writeTextFile(caFile, ROOT);
    const gateway = await startVideoGateway({
      store: server.url("videos"),
      config: { egress: { allow: ["127.0.0.1/32"], ca_file: caFile } },
    });
    const receiver = startReceiver(respondWith(204));
    const id = await gateway.create({ callback_url: `https://127.0.0.1:${receiver.port}/hook` });
    await gateway.until(id, "completed");
    await untilSo(() => receiver.received.length !== 0);
    const { balance, held } = await gateway.money();
    assert(Number(balance) < 25);
    assertEquals(Number(held), 0);
    await gateway.stop();
    await receiver.stop();
    await Deno.remove(caFile);
    await Deno.remove(`${gateway.filesFolder}.charges`, { recursive: true });
  });

  Deno.test("gateway on PostgreSQL: the password of the address is in no answer and no log line", async () => {
    await server.run("create database secret");
    const secret = server.url("secret").replace("switchyard@", "switchyard:sesame@");
    await withFiles(async (files) => {
      const gateway = await startLiveGateway({ store: secret, sections: { files } });
      const { status, body } = await gateway.admin("GET", "/config");
      assertEquals(status, 200);
      const shown = JSON.stringify(body);
      assert(shown.includes(secret.replace(":sesame", "")), shown);
      assert(!shown.includes("sesame"), shown);
      gateway.write({ store: secret.replace("sesame", "sesame2") });
      const reloaded = await gateway.admin("POST", "/config/reload");
      assert(!JSON.stringify(reloaded).includes("sesame"), JSON.stringify(reloaded));
      await gateway.stop();
      assert(!gateway.logLines.join("").includes("sesame"));
    });
  });

  Deno.test("switchyard store migrate creates the tables, and says so when nothing is missing", async () => {
    await server.run("create database migrated");
    const file = await Deno.makeTempFile({ suffix: ".yaml" });
    await Deno.writeTextFile(file, `store: ${server.url("migrated")}\n`);
    const lines: string[] = [];
    const original = console.log;
    console.log = (line: string) => void lines.push(line);
    try {
      assertEquals(await run(["store", "migrate", "--config", file]), 0);
      assertEquals(await run(["store", "migrate", "--config", file]), 0);
    } finally {
      console.log = original;
    }
    assertMatch(lines[0] ?? "", /^The schema was 0 and is \d+ now$/);
    assertMatch(lines[1] ?? "", /^The schema is \d+, as this version needs it$/);
    await Deno.remove(file);
  });
}
