import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { systemClock } from "../../../src/lib/clock.ts";
import { silentLog } from "../../../src/lib/log.ts";
import { openPostgresStore } from "../../../src/store/postgres/open_postgres_store.ts";
import { StoreUnusableError } from "../../../src/store/store_unusable_error.ts";
import { run } from "../../../src/cli/run.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway.ts";
import { startLiveGateway } from "../../support/live_gateway.ts";
import { startVideoGateway } from "../../support/video_gateway.ts";
import { isPostgresWanted, type PostgresServer, startPostgres } from "../../support/postgres_server.ts";
import { ROOT } from "../../webhooks/certificates.ts";
import { respondWith, startReceiver } from "../../webhooks/receiver.ts";

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

async function balanceOf({ address, adminKey }: Pick<TestGateway, "address" | "adminKey">): Promise<number> {
  const response = await fetch(`${address}/admin/v1/accounts/demo`, {
    headers: { authorization: `Bearer ${adminKey}` },
  });
  return Number((await response.json()).balance);
}

function registerTests(server: PostgresServer): void {
  const store = server.url("postgres");

  Deno.test("gateway on PostgreSQL: a text is charged, also after a restart, and a second gateway is refused", async () => {
    await withFiles(async (files) => {
      const options = { store, config: { files } };
      const gateway = await startTestGateway(options);
      assertEquals(await chat(gateway), 200);
      const charged = await balanceOf(gateway);
      assert(charged < 25, String(charged));
      const second = { url: store, clock: systemClock, log: silentLog, isExclusive: true };
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
    while (receiver.received.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
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
