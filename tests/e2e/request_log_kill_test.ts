import { assert, assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { LogFile } from "../../src/observers/request_log/sqlite/log_file.ts";
import { search } from "../../src/observers/request_log/search.ts";
import { eventually } from "../support/account_money.ts";
import { textModel } from "../support/gateway.ts";
import { startGatewayProcess } from "../support/gateway_process.ts";
import { itemAt } from "../support/items.ts";
import { assertRowsSurviveKills } from "../support/request_log_kills.ts";
import { SeededRandom } from "./money_walk/random.ts";
import { always, chatReply, startScriptedUpstream } from "../support/scripted_upstream.ts";
import { longTest } from "../support/long_test.ts";

const KEY = "sk-anna-0123456789abcdef";

async function chat(address: string): Promise<string> {
  const response = await fetch(`${address}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "acme/m", messages: [{ role: "user", content: "hello" }] }),
  });
  await response.text();
  assertEquals(response.status, 200);
  return response.headers.get("x-service-request-id") ?? "";
}

async function idsIn(path: string): Promise<string[]> {
  const file = new LogFile(path);
  try {
    const query = { order: "asc", limit: 1_000 } as const;
    const { rows } = await search(file, query, { now: () => 0, pause: () => Promise.resolve() });
    return rows.map(({ request_id }) => String(request_id));
  } finally {
    file.close();
  }
}

longTest("rows of requests survive kill -9 once they are written, and the next start continues the log", async () => {
  const folder = await Deno.makeTempDir();
  const vendor = startScriptedUpstream(always(chatReply("hello", { prompt: 10, completion: 5 })));
  const config = `${folder}/switchyard.json`;
  const path = `${folder}/store.db.requests`;
  await Deno.writeTextFile(
    config,
    JSON.stringify({
      server: { port: 0 },
      accounts: [{ id: "demo", balance: "25.00", keys: [KEY] }],
      providers: { acme: { kind: "openai", base_url: vendor.baseUrl, api_key: "key-of-the-provider", speaks: "chat" } },
      models: [textModel("acme/m", ["acme"])],
      store: `kv:${folder}/store.db`,
      files: `${folder}/files`,
    }),
  );
  const start = async () => {
    const child = startGatewayProcess({ args: ["serve", "--config", config], folder });
    return { child, address: itemAt(await child.until(/is ready at (\S+)/), 1) };
  };
  try {
    const killed = await start();
    const acknowledged = await Promise.all(Array.from({ length: 20 }, () => chat(killed.address)));
    const hasAll = async () => (await idsIn(path)).length === acknowledged.length;
    await eventually(hasAll);
    const cut = Array.from({ length: 20 }, () => chat(killed.address).catch(() => ""));
    await Promise.race(cut);
    killed.child.kill("SIGKILL");
    await killed.child.ended;
    await Promise.all(cut);
    const left = new Set(await idsIn(path));
    assert(acknowledged.every((id) => left.has(id)));

    const next = await start();
    const last = await chat(next.address);
    next.child.kill("SIGTERM");
    await next.child.ended;
    const ids = await idsIn(path);
    assertEquals(ids.at(-1), last);
    assertEquals(ids.length, left.size + 1);
    if (Deno.build.os !== "windows") assertEquals(((await Deno.stat(path)).mode ?? 0) & 0o777, 0o600);
  } finally {
    await vendor.stop();
    await Deno.remove(folder, { recursive: true });
  }
});

function sqliteIdsIn(path: string): ReadonlySet<string> {
  using database = new DatabaseSync(path, { readOnly: true });
  const rows = database.prepare("SELECT request_id FROM requests").all();
  return new Set(rows.map(({ request_id }) => String(request_id)));
}

/** The environment can set more: each takes some seconds. */
const KILLS = Number(Deno.env.get("SWITCHYARD_TEST_KILLS") ?? "4");
const SEED = Number(Deno.env.get("SWITCHYARD_TEST_SEED") ?? Math.floor(Math.random() * 2 ** 31));

longTest(
  `kill -9 at any time under load loses no row of a request acknowledged over a second before (seed ${SEED})`,
  async () => {
    const folder = await Deno.makeTempDir();
    try {
      await assertRowsSurviveKills({
        store: `kv:${folder}/store.db`,
        folder,
        kills: KILLS,
        random: new SeededRandom(SEED),
        readIds: () => Promise.try(() => sqliteIdsIn(`${folder}/store.db.requests`)),
      });
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
);
