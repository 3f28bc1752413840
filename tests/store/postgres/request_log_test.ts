import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import postgres from "postgres";
import { silentLog } from "../../../src/platform/lib/basics/log.ts";
import type { BodySettings } from "../../../src/observers/request_log/messages.ts";
import { openPostgresRequestLog } from "../../../src/observers/request_log/postgres_request_log.ts";
import { FLUSH_MS } from "../../../src/observers/request_log/threaded_request_log.ts";
import { BodyCapture } from "../../../src/platform/http/request/body_capture.ts";
import { idsOf, logLaws } from "../../request_log/laws.ts";
import { recordOf, type TestLog } from "../../request_log/support.ts";
import { eventually } from "../../support/account_money.ts";
import { startCutProxy } from "../../support/cut_proxy.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { isPostgresWanted, type PostgresServer, startPostgres, withConnection } from "../../support/postgres_server.ts";

const DAY_MS = 86_400_000;

if (isPostgresWanted) {
  const server = await startPostgres();
  registerTests(server);
  Deno.test("request log in PostgreSQL: the server is stopped", () => server.stop());
}

function registerTests(server: PostgresServer): void {
  let databases = 0;
  const newDatabase = async () => {
    const name = `log_${++databases}`;
    await server.run(`create database ${name}`);
    return server.url(name);
  };
  const openAt = (url: string, more: { maxBytes?: number; bodies?: BodySettings; now?: number } = {}): TestLog => {
    const clock = new ManualClock(more.now ?? Date.now());
    const { maxBytes = 1e9, bodies = null } = more;
    const log = openPostgresRequestLog({ url, retentionMs: 30 * DAY_MS, maxBytes, bodies, clock, log: silentLog });
    return { log, clock };
  };
  const tablesIn = async (url: string) => {
    const sql = postgres(url, { max: 1 });
    const rows = await sql`select relname from pg_class where relname ~ '^requests_\\d+$' order by relname`;
    await sql.end();
    return rows.map(({ relname }) => String(relname));
  };

  logLaws("in PostgreSQL", async () => openAt(await newDatabase()));

  Deno.test("request log in PostgreSQL: two gateways share it, and a list that continues misses no row", async () => {
    const url = await newDatabase();
    const now = Date.now();
    const [one, two] = [openAt(url, { now }), openAt(url, { now: now - 5_000 })];
    const seen: string[] = [];
    let after: number | undefined;
    const readOn = async () => {
      const { requests } = await one.log.list({ order: "asc", limit: 100, ...after !== undefined && { after } });
      seen.push(...requests.map(({ requestId }) => requestId));
      after = requests.at(-1)?.position ?? after;
    };
    for (let turn = 0; turn < 5; turn++) {
      one.log.observe(recordOf({ requestId: `req_one_${turn}` }));
      two.log.observe(recordOf({ requestId: `req_two_${turn}` }));
      await two.log.get("");
      await readOn();
    }
    assertEquals(seen.length, 10);
    assertEquals(new Set(seen).size, 10);
    assertEquals((await idsOf(two.log)).length, 10);
    await one.log.close();
    await two.log.close();
  });

  Deno.test("request log in PostgreSQL: a day is a partition, which is dropped at the end of its retention", async () => {
    const url = await newDatabase();
    const now = Date.now();
    for (const daysAgo of [40, 29, 0]) {
      const { log } = openAt(url, { now: now - daysAgo * DAY_MS });
      log.observe(recordOf({ requestId: `req_${daysAgo}` }));
      await log.close();
    }
    const dayOf = (daysAgo: number) => new Date(now - daysAgo * DAY_MS).toISOString().slice(0, 10).replaceAll("-", "");
    assertEquals(await tablesIn(url), [40, 29, 0].map((daysAgo) => `requests_${dayOf(daysAgo)}`));
    const aged = openAt(url, { now });
    assertEquals(await idsOf(aged.log), ["req_0", "req_29", "req_40"]);
    aged.clock.advance(3_600_000);
    await eventually(async () => (await tablesIn(url)).length === 2);
    assertEquals(await idsOf(aged.log), ["req_0", "req_29"]);
    await aged.log.close();

    const small = openAt(url, { now, maxBytes: 1 });
    await small.log.get("");
    small.clock.advance(3_600_000);
    await eventually(async () => (await tablesIn(url)).length === 1);
    assertEquals(await idsOf(small.log), ["req_0"], "the rows of the newest day stay");
    await small.log.close();
  });

  Deno.test("request log in PostgreSQL: rows wait while the server is away, and none is there twice", async () => {
    const { log, clock } = openAt(await newDatabase());
    log.observe(recordOf({ requestId: "req_1" }));
    await log.get("");
    const crashed = server.crash();
    for (let row = 2; row <= 50; row++) {
      log.observe(recordOf({ requestId: `req_${row}` }));
      clock.advance(FLUSH_MS);
    }
    await crashed;
    await eventually(() => log.stats.queued === 0);
    assertEquals(log.stats.dropped, 0);
    assertEquals((await idsOf(log)).length, 50);
    await log.close();
  });

  Deno.test("request log in PostgreSQL: rows wait while the server has no connection left", async () => {
    const own = (await newDatabase()).replace("switchyard@", "busy@");
    await server.run("create role busy login connection limit 1");
    await server.run(`grant create on database ${new URL(own).pathname.slice(1)} to busy`);
    const proxy = startCutProxy(server.port);
    const { log, clock } = openAt(own.replace(`:${server.port}/`, `:${proxy.port}/`));
    await withConnection(own, async (sql) => {
      await sql`select 1`;
      log.observe(recordOf({ requestId: "req_1" }));
      clock.advance(FLUSH_MS);
      await eventually(() => proxy.accepted >= 2);
      assertEquals(log.stats, { ...log.stats, dropped: 0, queued: 1 });
    });
    await eventually(() => log.stats.queued === 0);
    assertEquals(log.stats.dropped, 0);
    await server.run("alter role busy connection limit 5");
    assertEquals(await idsOf(log), ["req_1"]);
    await log.close();
    await proxy.stop();
  });

  Deno.test("request log in PostgreSQL: no row is lost or twice when all connections are cut again and again", async () => {
    const proxy = startCutProxy(server.port);
    const { log, clock } = openAt((await newDatabase()).replace(`:${server.port}/`, `:${proxy.port}/`));
    let rows = 0;
    for (let [cuts, round] = [0, 0]; cuts < 10; round++) {
      for (let row = 0; row < 5; row++) log.observe(recordOf({ requestId: `req_${++rows}` }));
      clock.advance(FLUSH_MS);
      await new Promise((resolve) => setTimeout(resolve, round % 7));
      cuts += proxy.cut();
    }
    await eventually(() => log.stats.queued === 0);
    assertEquals(log.stats.dropped, 0);
    const ids: string[] = [];
    let next: number | undefined;
    while (ids.length < rows) {
      const page = await log.list({ order: "asc", limit: 100, ...next !== undefined && { after: next } });
      if (page.requests.length === 0) break;
      ids.push(...page.requests.map(({ requestId }) => requestId));
      next = page.requests.at(-1)?.position;
    }
    assertEquals(ids, Array.from({ length: rows }, (_, index) => `req_${index + 1}`));
    await log.close();
    await proxy.stop();
  });

  Deno.test("request log in PostgreSQL: bodies are encrypted, read with the secret, and erased with the account", async () => {
    const url = await newDatabase();
    const bodies = { secret: "a secret of the operator", retentionMs: DAY_MS, maxBytes: 1e6 };
    const { log } = openAt(url, { bodies });
    const request = new TextEncoder().encode("a question that is private");
    for (const accountId of ["acme", "beta"]) {
      const record = recordOf({ requestId: `req_${accountId}`, accountId });
      record.capture = BodyCapture.of({ request: request.slice(), response: null, isCut: true });
      log.observe(record);
    }
    assertEquals(await log.bodies("req_acme"), { request: "a question that is private", response: null, isCut: true });
    const sql = postgres(url, { max: 1 });
    const [stored] = await sql`select request from switchyard_log.bodies where request_id = 'req_acme'`;
    assertEquals(new TextDecoder().decode(stored?.request).includes("private"), false);
    assertEquals(await log.deleteAccount("acme"), 1);
    assertEquals([await log.bodies("req_acme"), await log.get("req_acme")], [null, null]);
    assert(await log.bodies("req_beta") !== null);
    await sql.end();
    await log.close();
  });

  Deno.test("request log in PostgreSQL: a password is in no reason of a failure", async () => {
    const lines: string[] = [];
    const log = openPostgresRequestLog({
      url: "postgres://someone:hidden-password@127.0.0.1:1/none",
      retentionMs: DAY_MS,
      maxBytes: 1,
      bodies: null,
      clock: new ManualClock(),
      log: { ...silentLog, warn: (event, fields) => void lines.push(event + JSON.stringify(fields)) },
    });
    const failure = await log.get("req_1").catch((error) => error);
    assertStringIncludes(failure.message, "Cannot read the request log");
    assertEquals((failure.message + lines.join("")).includes("hidden-password"), false);
    await log.close();
  });
}
