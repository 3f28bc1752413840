import { assertEquals, assertGreater, assertMatch } from "@std/assert";
import type { Clock } from "../../../src/platform/lib/basics/clock.ts";
import { startTestGateway, type TestGateway, textModel } from "../../support/gateway.ts";
import { type Answer, callerOf } from "../../support/gateway_call.ts";
import { itemAt } from "../../support/items.ts";
import { isPostgresWanted, type PostgresServer, startPostgres, withConnection } from "../../support/postgres_server.ts";
import { chargedRequests, untilCharged } from "./charged_replies.ts";
import { type HeldVendor, openStream, startHeldVendor } from "./held_streams.ts";
import { quickClock } from "./quick_clock.ts";
import { untilSo } from "../../support/patience.ts";

if (isPostgresWanted) {
  const server = await startPostgres();
  registerTests(server);
  Deno.test("outages: the server is stopped", () => server.stop());
}

/** A gateway on a database of its own, and the vendor of its model `acme/m`. */
interface Stage {
  readonly gateway: TestGateway;
  readonly vendor: HeldVendor;
  /** The address of the database. */
  readonly url: string;
  /** Ends all connections to the database. */
  cut(): Promise<void>;
}

/** How the gateway is started. */
interface StageOptions {
  readonly isolates: number;
  /** Default: that of PostgreSQL, `power`. */
  readonly durability?: "process" | "power";
  /** Default: the system's. */
  readonly clock?: Clock;
}

let databases = 0;

async function withStage(
  server: PostgresServer,
  { isolates, durability = "power", clock }: StageOptions,
  run: (stage: Stage) => Promise<void>,
): Promise<void> {
  const database = `outage_${++databases}`;
  await server.run(`create database ${database}`);
  const folder = await Deno.makeTempDir();
  const vendor = startHeldVendor();
  const acme = {
    kind: "openai",
    base_url: vendor.upstream.baseUrl,
    api_key: "key-of-the-provider",
    speaks: "chat",
  };
  const gateway = await startTestGateway({
    store: server.url(database),
    isolates,
    ...clock && { clock },
    config: {
      billing: { durability },
      files: `${folder}/files`,
      providers: { acme },
      models: [textModel("acme/m", ["acme"]), { ...VIDEO_MODEL, serves: [{ provider: "acme" }] }],
    },
  });
  const cut = () => server.run(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database}'`);
  try {
    await run({ gateway, vendor, url: server.url(database), cut });
  } finally {
    vendor.release();
    await gateway.stop();
    await vendor.upstream.stop();
    await Deno.remove(folder, { recursive: true });
  }
}

const VIDEO_MODEL = { id: "acme/v", video: { modes: ["text2video"], price_per_second: { default: "0.1" } } };

const MESSAGES = [{ role: "user", content: "hi" }];

/** A paid call in each protocol, and where its error has the kind. */
const PAID_CALLS: readonly {
  readonly path: string;
  readonly body: unknown;
  readonly kindOf: (a: Answer) => unknown;
}[] = [
  {
    path: "/v1/chat/completions",
    body: { model: "acme/m", messages: MESSAGES },
    kindOf: ({ json }) => json.error.code,
  },
  { path: "/v1/responses", body: { model: "acme/m", input: "hi" }, kindOf: ({ json }) => json.error.code },
  {
    path: "/msgcompat/v1/messages",
    body: { model: "acme/m", max_tokens: 5, messages: MESSAGES },
    kindOf: ({ json }) => [json.type, json.error.type],
  },
  {
    path: "/gencompat/v1beta/models/acme/m:generateContent",
    body: { contents: [{ role: "user", parts: [{ text: "hi" }] }] },
    kindOf: ({ json }) => [json.error.code, json.error.status],
  },
  {
    path: "/v1/videos",
    body: { model: "acme/v", prompt: "A lighthouse", duration: 2 },
    kindOf: ({ json }) => json.error.code,
  },
];
const KINDS = [
  "storage_unavailable",
  "storage_unavailable",
  ["error", "api_error"],
  [503, "UNAVAILABLE"],
  "storage_unavailable",
];

function registerTests(server: PostgresServer): void {
  for (const isolates of [1, 2]) {
    Deno.test(`outages: streams outlast the loss of all connections, and are charged once (${isolates} threads)`, () =>
      withStage(server, { isolates }, async ({ gateway, vendor, cut }) => {
        const streams = await Promise.all(
          Array.from({ length: 8 }, () => openStream(gateway.address, gateway.key)),
        );
        await cut();
        vendor.release();
        let isOver = false;
        // Commits of charges are cut while their outcome is unknown.
        const cutting = (async () => {
          while (!isOver) await cut();
        })();
        for (const { text } of streams) assertMatch(await text, /"content":"lo"[^]*data: \[DONE\]/);
        isOver = true;
        await cutting;
        await untilCharged(gateway, streams.length);
        const charged = await chargedRequests(gateway);
        assertEquals(charged.toSorted(), streams.map(({ requestId }) => requestId).toSorted());
      }));

    Deno.test(`outages: without the server streams end, paid calls are 503 in every protocol, and /readyz is red until it is back (${isolates} threads)`, () =>
      withStage(server, { isolates }, async ({ gateway, vendor }) => {
        const { address, key } = gateway;
        const call = callerOf(address, { authorization: `Bearer ${key}`, "msg-version": "2023-06-01" });
        const ask = () => call("POST", "/v1/chat/completions", itemAt(PAID_CALLS, 0).body);
        const readiness = async () => (await call("GET", "/readyz")).status;
        assertEquals([(await ask()).status, await readiness()], [200, 200]);
        const stream = await openStream(address, key);
        let acknowledged = 1;
        await server.whileDown(async () => {
          // A call that is admitted before the gateway notices is charged from the journal.
          for (let status = 0; status !== 503; acknowledged += Number(status === 200)) status = (await ask()).status;
          const askAll = () => Promise.all(PAID_CALLS.map(({ path, body }) => call("POST", path, body)));
          const admittedOf = (all: readonly Answer[]) => all.filter(({ status }) => status === 200).length;
          let answers = await askAll();
          // A thread that has leased a part of the balance notices a tenth of a second later than the main thread.
          for (; admittedOf(answers) > 0; answers = await askAll()) acknowledged += admittedOf(answers);
          for (const { status, headers } of answers) {
            assertEquals(status, 503);
            assertGreater(Number(headers.get("retry-after")), 0);
          }
          assertEquals(answers.map((answer, index) => itemAt(PAID_CALLS, index).kindOf(answer)), KINDS);
          const { status, text } = await call("GET", "/readyz");
          assertEquals(status, 503);
          assertMatch(text, /^not ready/);
          vendor.release();
          assertMatch(await stream.text, /"content":"lo"[^]*data: \[DONE\]/);
          acknowledged++;
        });
        await untilSo(async () => await readiness() === 200);
        await untilSo(async () => (await ask()).status === 200);
        await untilCharged(gateway, ++acknowledged);
        const charged = await chargedRequests(gateway);
        assertEquals(charged.filter((id) => id === stream.requestId).length, 1);
        assertEquals([charged.length, new Set(charged).size], [acknowledged, acknowledged]);
      }));
  }

  Deno.test("outages: with durability process, a call is 503 while charges have waited two seconds for the ledger", async () => {
    await withStage(server, { isolates: 1, durability: "process", clock: quickClock(5) }, async (stage) => {
      const { gateway, url } = stage;
      const call = callerOf(gateway.address, { authorization: `Bearer ${gateway.key}` });
      const ask = async () => (await call("POST", "/v1/chat/completions", itemAt(PAID_CALLS, 0).body)).status;
      let replies = 0;
      await withConnection(url, (sql) =>
        sql.begin(async (transaction) => {
          await transaction`lock table switchyard.ledger in exclusive mode`;
          for (let status = 0; status !== 503; replies += Number(status === 200)) status = await ask();
          // The store takes other writes: only the charges wait.
          assertEquals((await call("GET", "/readyz")).status, 200);
          assertEquals(gateway.logLines.filter((line) => line.includes("store_unwritable")), []);
        }));
      await untilSo(async () => await ask() === 200);
      await untilCharged(gateway, replies + 1);
    });
  });
}
