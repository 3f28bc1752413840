import { assert, assertEquals } from "@std/assert";
import { startSandbox } from "../../../src/sandbox/mod.ts";
import { configOf } from "../../e2e/kills/config.ts";
import { startEventReceiver } from "../../e2e/kills/receiver.ts";
import { VideoFacts } from "../../e2e/kills/video_facts.ts";
import { type Answer, callerOf, type GatewayCall } from "../../support/gateway_call.ts";
import { type GatewayProcess, startGatewayProcess } from "../../support/gateway_process.ts";
import { itemAt } from "../../support/items.ts";
import { LOOPBACK_ROOT } from "../../support/loopback_certificate.ts";
import { isPostgresWanted, type PostgresServer, startPostgres } from "../../support/postgres_server.ts";
import { stateOf, untilSo } from "../../support/patience.ts";

const ADMIN_KEY = "admin-key-of-the-operator-1";
const KEY = "sk-anna-0123456789abcdef";

/** One of two gateways. */
interface Node {
  readonly process: GatewayProcess;
  /** Calls it with the key of the account `demo`. */
  readonly call: GatewayCall;
  /** Calls its admin API. */
  readonly admin: GatewayCall;
}

/** Two gateways on one database, with one folder of files, and what their vendors received. */
interface Pair {
  readonly nodes: readonly [Node, Node];
  readonly facts: VideoFacts;
  readonly callbackUrl: string;
  /** The requests at vendors that are open now, and the most that were. */
  readonly open: { now: number; most: number };
  /** Paths of requests to vendors of videos, with the time of each. */
  readonly polls: { readonly path: string; readonly at: number }[];
}

if (isPostgresWanted) {
  const server = await startPostgres();
  registerTests(server);
  Deno.test("two gateways: the server is stopped", () => server.stop());
}

let databases = 0;

/** Runs a test over two gateways. A limit applies to the vendor of texts. */
async function withPair(
  server: PostgresServer,
  limit: Readonly<Record<string, unknown>>,
  run: (pair: Pair) => Promise<void>,
  roles: readonly [string, string] = ["serve,work", "work,serve"],
): Promise<void> {
  const database = `pair${++databases}`;
  await server.run(`create database ${database}`);
  const folder = await Deno.makeTempDir();
  const polls: { path: string; at: number }[] = [];
  const sandbox = await startSandbox({
    port: 0,
    onRequest: ({ method, path }) => void (method === "GET" && polls.push({ path, at: performance.now() })),
  });
  const open = { now: 0, most: 0 };
  const proxy = countingProxy(sandbox.baseUrls.anthropic, open);
  const facts = new VideoFacts();
  const receiver = startEventReceiver(facts, () => {});
  await Deno.writeTextFile(`${folder}/root.pem`, LOOPBACK_ROOT);
  const baseUrls = { ...sandbox.baseUrls, anthropic: proxy.url };
  const base = configOf(baseUrls, { folder, key: KEY, adminKey: ADMIN_KEY, durability: "power" });
  const { providers, ...others } = base as { readonly providers: Record<string, object> };
  const limited = { ...providers, anthropic: { ...providers.anthropic, ...limit } };
  const config = { ...others, providers: limited, store: server.url(database) };
  await Deno.writeTextFile(`${folder}/switchyard.json`, JSON.stringify(config));
  const start = async (given: string): Promise<Node> => {
    const args = ["serve", "--config", `${folder}/switchyard.json`, "--roles", given];
    const child = startGatewayProcess({ args, folder });
    const address = itemAt(await child.until(/is ready at (\S+)/), 1);
    const authorized = (key: string) => callerOf(address, { authorization: `Bearer ${key}` });
    return { process: child, call: authorized(KEY), admin: authorized(ADMIN_KEY) };
  };
  const nodes = await Promise.all([start(roles[0]), start(roles[1])]);
  try {
    await run({ nodes, facts, callbackUrl: receiver.url, open, polls });
  } finally {
    for (const { process } of nodes) {
      try {
        process.kill("SIGCONT");
        process.kill("SIGTERM");
      } catch { /* it has ended */ }
      await process.ended;
    }
    await receiver.stop();
    await proxy.stop();
    await sandbox.stop();
    await Deno.remove(folder, { recursive: true });
  }
}

/** A vendor's address that counts the requests which are open. */
function countingProxy(target: string, open: { now: number; most: number }) {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    open.most = Math.max(open.most, ++open.now);
    try {
      const { pathname, search } = new URL(request.url);
      const { method, headers } = request;
      const response = await fetch(target + pathname + search, { method, headers, body: await request.bytes() });
      return new Response(await response.bytes(), { status: response.status, headers: response.headers });
    } finally {
      open.now--;
    }
  });
  return { url: `http://127.0.0.1:${server.addr.port}`, stop: () => server.shutdown() };
}

function textBody(directives = ""): unknown {
  return { model: "load/text", max_tokens: 8, messages: [{ role: "user", content: `[[say Hello]] ${directives}` }] };
}

function videoBody(number: number, callbackUrl: string, runMs: number): unknown {
  return {
    model: "load/ark",
    prompt: `Video ${number} [[queue 0]] [[run ${runMs}]]`,
    duration: 2,
    metadata: { number: String(number) },
    callback_url: callbackUrl,
  };
}

/** Repeats a call until its answer is accepted. */
async function until(call: () => Promise<Answer>, isAccepted: (answer: Answer) => boolean): Promise<Answer> {
  return await stateOf("the answer is accepted", call, isAccepted);
}

function countsOf(answers: readonly Answer[]): Record<string, number> {
  const groups = Object.groupBy(answers, ({ status }) => status);
  return Object.fromEntries(Object.entries(groups).map(([status, those]) => [status, those?.length ?? 0]));
}

function registerTests(server: PostgresServer): void {
  Deno.test("two gateways: a key works on both when it is created, and on none soon after it is revoked", async () => {
    await withPair(server, {}, async ({ nodes: [a, b] }) => {
      const created = await a.admin("POST", "/admin/v1/accounts/demo/keys", { name: "ci" });
      const headers = { authorization: `Bearer ${created.json.secret}` };
      const ask = ({ call }: Node) => call("POST", "/v1/chat/completions", textBody(), headers);
      assertEquals([(await ask(a)).status, (await ask(b)).status], [200, 200]);
      await b.admin("DELETE", `/admin/v1/accounts/demo/keys/${created.json.id}`);
      assertEquals((await ask(b)).status, 401);
      await until(() => ask(a), ({ status }) => status === 401);
    });
  });

  Deno.test("two gateways: a limit of a key that is changed on one holds on the other soon", async () => {
    await withPair(server, {}, async ({ nodes: [a, b] }) => {
      const created = await a.admin("POST", "/admin/v1/accounts/demo/keys", { name: "ci" });
      const headers = { authorization: `Bearer ${created.json.secret}` };
      const ask = ({ call }: Node) => call("POST", "/v1/chat/completions", textBody(), headers);
      assertEquals([(await ask(a)).status, (await ask(b)).status], [200, 200]);
      const key = `/admin/v1/accounts/demo/keys/${created.json.id}`;

      assertEquals((await a.admin("PATCH", key, { models: ["other/*"] })).status, 200);
      assertEquals((await ask(a)).status, 403);
      await until(() => ask(b), ({ status }) => status === 403);

      assertEquals((await b.admin("PATCH", key, { models: null })).status, 200);
      await until(() => ask(a), ({ status }) => status === 200);

      assertEquals((await a.admin("PATCH", key, { rpm: 1 })).status, 200);
      const limited = await until(() => ask(b), ({ headers }) => headers.get("x-ratelimit-limit-requests") === "1");
      assert([200, 429].includes(limited.status), limited.text);
      await until(() => ask(b), ({ status }) => status === 429);
    });
  });

  Deno.test("two gateways: a provider that is drained on one gets no requests from the other soon", async () => {
    await withPair(server, {}, async ({ nodes: [a, b] }) => {
      const ask = ({ call }: Node) => call("POST", "/v1/chat/completions", textBody());
      const state = "/admin/v1/providers/anthropic/state";
      assertEquals((await a.admin("PUT", state, { state: "drain" })).status, 200);
      assertEquals((await ask(a)).status, 503);
      await until(() => ask(b), ({ status }) => status === 503);
      assertEquals((await b.admin("PUT", state, { state: "on" })).status, 200);
      assertEquals((await ask(b)).status, 200);
      await until(() => ask(a), ({ status }) => status === 200);
    });
  });

  Deno.test("two gateways: the balance is exact, and limits of keys and providers hold for both together", async () => {
    await withPair(server, { concurrency: 3, max_wait: 60 }, async ({ nodes: [a, b], open }) => {
      const limited = await a.admin("POST", "/admin/v1/accounts/demo/keys", { name: "limited", rpm: 7 });
      const keyed = { authorization: `Bearer ${limited.json.secret}` };
      const bothAsk = (count: number, headers?: Record<string, string>, directives?: string) =>
        Promise.all(
          [a, b].flatMap(({ call }) =>
            Array.from({ length: count }, () => call("POST", "/v1/chat/completions", textBody(directives), headers))
          ),
        );
      const ofKey = countsOf(await bothAsk(15, keyed));
      assert((ofKey[200] ?? 0) >= 7 && (ofKey[200] ?? 0) <= 8, JSON.stringify(ofKey)); // one can be regained meanwhile
      assertEquals((ofKey[200] ?? 0) + (ofKey[429] ?? 0), 30, JSON.stringify(ofKey));
      const all = countsOf(await bothAsk(12, undefined, "[[stall 100]]"));
      assertEquals(all, { 200: 24 });
      assert(open.most <= 3, `${open.most} requests were open at the vendor`);
      const texts = (ofKey[200] ?? 0) + 24;
      // A gateway writes the charges of a moment to the ledger together.
      const balance = Number((10_000 - texts * (0.001 + 0.00001)).toFixed(10));
      await until(() => b.admin("GET", "/admin/v1/accounts/demo"), ({ json }) => Number(json.balance) === balance);
    });
  });

  Deno.test("two gateways: one answers callers and the other one runs jobs, by their roles", async () => {
    await withPair(server, {}, async ({ nodes: [serving, working], facts, callbackUrl }) => {
      assertEquals((await serving.call("POST", "/v1/chat/completions", textBody())).status, 200);
      assertEquals((await working.call("POST", "/v1/chat/completions", textBody())).status, 404);
      assertEquals((await working.call("GET", "/readyz")).status, 200);
      const { json } = await serving.call("POST", "/v1/videos", videoBody(1, callbackUrl, 0));
      await until(() => serving.call("GET", `/v1/videos/${json.id}`), (task) => task.json.status === "completed");
      await untilSo(() => facts.taken.size >= 1);
      assertEquals((await working.admin("GET", `/admin/v1/tasks/${json.id}`)).json.status, "completed");
    }, ["serve", "work"]);
  });

  Deno.test("two gateways: after kill -9 the other one ends the videos, and each event has one body", async () => {
    await withPair(server, {}, async ({ nodes: [a, b], facts, callbackUrl, polls }) => {
      const ids: string[] = [];
      for (let n = 0; n < 12; n++) {
        const { json } = await itemAt([a, b], n % 2).call("POST", "/v1/videos", videoBody(n, callbackUrl, 4_000));
        ids.push(json.id);
      }
      const killedAt = performance.now();
      a.process.kill("SIGKILL");
      for (const id of ids) {
        await until(() => b.call("GET", `/v1/videos/${id}`), ({ json }) => json.status === "completed");
      }
      const tookMs = performance.now() - killedAt;
      await untilSo(() => facts.taken.size >= ids.length);
      for (const bodies of facts.events.values()) assertEquals(bodies.size, 1);
      const { json } = await b.admin("GET", "/admin/v1/accounts/demo");
      assertEquals([Number(json.held), Number(json.balance)], [0, 10_000 - 12 * 2 * 0.1]);
      if (Deno.env.has("SWITCHYARD_TEST_KILLS")) console.log(gapsOf(polls, killedAt, tookMs));
    });
  });

  Deno.test("two gateways: one that is stopped for an upgrade ends its streams, and the other one ends its videos", async () => {
    await withPair(server, {}, async ({ nodes: [a, b], facts, callbackUrl, open }) => {
      const ids: string[] = [];
      for (let n = 0; n < 6; n++) {
        ids.push((await a.call("POST", "/v1/videos", videoBody(n, callbackUrl, 2_000))).json.id);
      }
      const body = {
        model: "load/text",
        max_tokens: 64,
        stream: true,
        messages: [{ role: "user", content: "[[words 20]] [[gap 100]]" }],
      };
      const streaming = a.call("POST", "/v1/chat/completions", body);
      await untilSo(() => open.now !== 0);
      a.process.kill("SIGTERM");
      const { status, text } = await streaming;
      assertEquals(status, 200);
      assert(text.includes("[DONE]"), text);
      assertEquals((await a.process.ended).code, 0, a.process.log());
      for (const id of ids) {
        await until(() => b.call("GET", `/v1/videos/${id}`), ({ json }) => json.status === "completed");
      }
      await untilSo(() => facts.taken.size >= ids.length);
      for (const bodies of facts.events.values()) assertEquals(bodies.size, 1);
      assertEquals((await b.call("POST", "/v1/chat/completions", textBody())).status, 200);
      const balance = Number((10_000 - 6 * 2 * 0.1 - 2 * 0.001 - 21 * 0.00001).toFixed(10));
      await until(() => b.admin("GET", "/admin/v1/accounts/demo"), ({ json }) => Number(json.balance) === balance);
    });
  });

  Deno.test("two gateways: one that is paused while the other takes its jobs over changes nothing afterwards", async () => {
    await withPair(server, {}, async ({ nodes: [a, b], facts, callbackUrl }) => {
      const ids: string[] = [];
      for (let n = 0; n < 6; n++) {
        ids.push((await a.call("POST", "/v1/videos", videoBody(n, callbackUrl, 1_000))).json.id);
      }
      a.process.kill("SIGSTOP");
      for (const id of ids) {
        await until(() => b.call("GET", `/v1/videos/${id}`), ({ json }) => json.status === "completed");
      }
      await untilSo(() => facts.taken.size >= ids.length);
      const before = (await b.admin("GET", "/admin/v1/accounts/demo")).text;
      a.process.kill("SIGCONT");
      for (const id of ids) {
        assertEquals((await a.call("GET", `/v1/videos/${id}`)).json.status, "completed");
      }
      assertEquals((await a.call("POST", "/v1/chat/completions", textBody())).status, 200);
      const balance = Number((JSON.parse(before).balance - 0.00101).toFixed(10));
      await until(() => b.admin("GET", "/admin/v1/accounts/demo"), ({ json }) => Number(json.balance) === balance);
      for (const bodies of facts.events.values()) assertEquals(bodies.size, 1);
    });
  });
}

/** How long polls of vendors paused after a kill, for the results of a measurement. */
function gapsOf(polls: Pair["polls"], killedAt: number, tookMs: number): string {
  const paths = Map.groupBy(polls, ({ path }) => path);
  const gaps = [...paths.values()].flatMap((those) => {
    const before = those.findLast(({ at }) => at < killedAt);
    const after = those.find(({ at }) => at >= killedAt);
    return before === undefined || after === undefined ? [] : [after.at - killedAt];
  }).toSorted((one, other) => one - other);
  const rounded = gaps.map((gap) => Math.round(gap));
  return JSON.stringify({ msToFirstPollAfterKill: rounded, msToLastEnd: Math.round(tookMs) });
}
