import { assertEquals } from "@std/assert";
import { startSandbox } from "../../../src/sandbox/mod.ts";
import { callerOf, type GatewayCall } from "../../support/gateway_call.ts";
import { type GatewayProcess, startGatewayProcess } from "../../support/gateway_process.ts";
import { itemAt } from "../../support/items.ts";
import { stateOf, withPatience } from "../../support/patience.ts";
import { isPostgresWanted, type PostgresServer, startPostgres } from "../../support/postgres_server.ts";
import { vendorBatchConfig } from "../../e2e/vendor_batch_stage.ts";

const KEY = "sk-anna-0123456789abcdef";
const ADMIN_KEY = "sk-admin-0123456789abcdef";
const LINES = 60;
const BALANCE = 1_000;
const UNLIMITED = { requests: 100_000, per: 1, burst: 10_000 };

/** What a vendor gets before a gateway is killed: a request with this beginning, with its answer or without. */
interface KillMoment {
  readonly name: string;
  readonly endpoint: string;
  /** The method and the beginning of the path at the vendor. */
  readonly request: RegExp;
  /** The part of the answer that arrives before the kill; null: the vendor gets no request either. */
  readonly answered: number | null;
  /** What the vendor must have got of each: requests that make something, and how many. */
  readonly makes: RegExp;
  readonly made: number;
}

const CHATS = "/v1/chat/completions";
const VENDOR_BATCH = { endpoint: CHATS, makes: /^POST \/batches$/, made: 1 };
const VIDEOS = { endpoint: "/v1/videos", makes: /^POST .*\/contents\/generations\/tasks$/, made: LINES };

const MOMENTS: readonly KillMoment[] = [
  { ...VENDOR_BATCH, name: "the lines are uploaded", request: /^POST \/files$/, answered: null },
  { ...VENDOR_BATCH, name: "the vendor's batch is created", request: /^POST \/batches$/, answered: 0 },
  {
    ...VENDOR_BATCH,
    name: "its results are settled",
    request: /^GET \/files\/[^/]+\/content$/,
    answered: 0.5,
  },
  { ...VIDEOS, name: "a video of a line is created", request: VIDEOS.makes, answered: 0 },
  { ...VIDEOS, name: "videos of lines are polled", request: /^GET .*\/contents\/generations\/tasks/, answered: 0 },
];

/** A vendor's address for one gateway, which is told before an answer arrives. */
function watchedVendor(
  target: string,
  onRequest: (request: string, send: () => Promise<Response>) => Promise<Response>,
) {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const { pathname, search } = new URL(request.url);
    const { method, headers } = request;
    const body = method === "GET" ? null : await request.bytes();
    return await onRequest(
      `${method} ${pathname}`,
      () => fetch(target + pathname + search, { method, headers, body }),
    );
  });
  return { url: `http://127.0.0.1:${server.addr.port}`, stop: () => server.shutdown() };
}

interface Node {
  readonly process: GatewayProcess;
  readonly call: GatewayCall;
  readonly admin: GatewayCall;
  readonly stopVendors: () => Promise<unknown>;
}

function bodyOf(endpoint: string, n: number): Record<string, unknown> {
  return endpoint === CHATS
    ? { model: "sandbox/chat-1", max_tokens: 60, messages: [{ role: "user", content: `[[batch wait 500]] Line ${n}` }] }
    : { model: "sandbox/video-1", prompt: `Line ${n} [[queue 0]] [[run ${100 + n % 7 * 100}]]`, seconds: "5" };
}

/** Kills the gateway that runs a batch at a moment; another one on its database goes on. */
async function killOneOfTwo(server: PostgresServer, moment: KillMoment, database: string): Promise<void> {
  const { endpoint, request: pattern, answered, makes, made } = moment;
  await server.run(`create database ${database}`);
  const folder = await Deno.makeTempDir();
  const sent: string[] = [];
  const sandbox = await startSandbox({ port: 0 });
  const killed = Promise.withResolvers<number>();
  let isKilled = false;
  let batchId = "";
  /** As the first gateway reads them, which lives until it is killed. */
  const settledLines = async (): Promise<number> => {
    const { json } = await itemAt(nodes, 0).call("GET", `/v1/batches/${batchId}`);
    return json.request_counts?.completed ?? 0;
  };
  const nodes: Node[] = [];

  const start = async (index: number): Promise<Node> => {
    const onRequest = async (request: string, send: () => Promise<Response>) => {
      const kills = !isKilled && pattern.test(request);
      if (kills) isKilled = true;
      const kill = () => {
        nodes[index]?.process.kill("SIGKILL");
        killed.resolve(index);
      };
      if (kills && answered === null) {
        kill();
        return new Response(null, { status: 503 });
      }
      if (makes.test(request)) sent.push(request);
      const response = await send();
      const bytes = await response.bytes();
      const { status, headers } = response;
      if (!kills) return new Response(bytes, { status, headers });
      const first = bytes.subarray(0, Math.floor(bytes.length * (answered ?? 0)));
      const body = new ReadableStream({
        async pull(controller) {
          if (first.length > 0) {
            controller.enqueue(first);
            await stateOf("lines are settled", settledLines, (lines) => lines > 0);
          }
          kill();
          controller.close(); // nobody reads it any more
        },
      });
      return new Response(body, { status, headers: { "content-type": headers.get("content-type") ?? "" } });
    };
    const openai = watchedVendor(sandbox.baseUrls.openai, onRequest);
    const ark = watchedVendor(sandbox.baseUrls.ark, onRequest);
    const vendors = vendorBatchConfig({ ...sandbox.baseUrls, openai: openai.url });
    const config = `${folder}/gateway-${index}.json`;
    await Deno.writeTextFile(
      config,
      JSON.stringify({
        server: { port: 0, admin_key: ADMIN_KEY },
        accounts: [{ id: "demo", balance: `${BALANCE}.00`, keys: [KEY] }],
        providers: {
          ...vendors.providers,
          ark: { kind: "ark", base_url: ark.url, api_key: "sandbox-key-ark" },
        },
        models: [...vendors.models, {
          id: "sandbox/video-1",
          video: { modes: ["text2video"], price_per_second: { default: "0.10" } },
          serves: [{ provider: "ark" }],
        }],
        store: server.url(database),
        files: `${folder}/files`,
        limits: {
          video_doubt: 3,
          vendor_polling: { first: 0.05, least: 0.05, most: 0.2, per_second: 1_000 },
          reads: UNLIMITED,
        },
        egress: { allow: ["127.0.0.1/32"] },
      }),
    );
    const child = startGatewayProcess({ args: ["serve", "--config", config], folder });
    const address = itemAt(await child.until(/is ready at (\S+)/), 1);
    const caller = (key: string) => callerOf(address, { authorization: `Bearer ${key}` });
    return {
      process: child,
      call: caller(KEY),
      admin: caller(ADMIN_KEY),
      stopVendors: () => Promise.all([openai.stop(), ark.stop()]),
    };
  };

  nodes.push(await start(0));
  nodes.push(await start(1));
  try {
    const { call } = itemAt(nodes, 0);
    const requests = Array.from({ length: LINES }, (_, n) => ({ custom_id: `line-${n}`, body: bodyOf(endpoint, n) }));
    const { json: batch, text } = await call("POST", "/v1/batches", { endpoint, requests });
    batchId = batch.id;
    assertEquals(batch.service_batch?.mode, endpoint === CHATS ? "vendor" : "emulated", text);
    const victim = await withPatience("a gateway is killed", killed.promise);
    await itemAt(nodes, victim).process.ended;
    const other = itemAt(nodes, 1 - victim);
    const ended = await stateOf(
      "the other gateway has ended the batch",
      async () => (await other.call("GET", `/v1/batches/${batch.id}`)).json,
      ({ status }) => status === "completed",
    );
    assertEquals(ended.request_counts, { total: LINES, completed: LINES, failed: 0 });
    assertEquals(sent.length, made);
    const file = await other.call("GET", `/v1/files/${ended.output_file_id}/content`);
    const ids = file.text.trimEnd().split("\n").map((line) => JSON.parse(line).custom_id);
    assertEquals([ids.length, new Set(ids).size], [LINES, LINES]);
    const charged: string[] = [];
    for (let after = "";;) {
      const { json } = await other.admin("GET", `/admin/v1/accounts/demo/ledger?limit=100${after}`);
      for (const { operation, detail } of json.data) {
        if (operation === "charge" || operation === "capture") charged.push(detail.custom_id);
      }
      if (json.next === null) break;
      after = `&after=${json.next}`;
    }
    assertEquals(charged.sort(), ids.sort());
    const { json: account } = await other.admin("GET", "/admin/v1/accounts/demo");
    assertEquals(account.held, "0.0000000000");
    assertEquals(Number(account.balance).toFixed(8), (BALANCE - Number(ended.service_batch.cost)).toFixed(8));
  } finally {
    for (const { process, stopVendors } of nodes) {
      try {
        process.kill("SIGKILL");
      } catch { /* it has ended */ }
      await process.ended;
      await stopVendors();
    }
    await sandbox.stop();
    await Deno.remove(folder, { recursive: true });
  }
}

if (isPostgresWanted) {
  const server = await startPostgres();
  for (const [index, moment] of MOMENTS.entries()) {
    Deno.test(`two gateways: kill -9 of one while ${moment.name}: the other goes on, and nothing is sent or charged twice`, async () => {
      await killOneOfTwo(server, moment, `batches_${index}`);
    });
  }
  Deno.test("two gateways with batches: the server is stopped", () => server.stop());
}
