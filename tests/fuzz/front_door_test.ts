import { assert, assertEquals } from "@std/assert";
import { SeededRandom } from "../e2e/money_walk/random.ts";
import { newApiKey } from "../../src/money/billing/keys/api_key.ts";
import { startSandbox } from "../../src/sandbox/mod.ts";
import { startGatewayProcess } from "../support/gateway_process.ts";
import { itemAt } from "../support/items.ts";
import { type FuzzedEndpoint, hostileRequest } from "./hostile_request.ts";
import { sendHostile } from "./send_hostile.ts";
import document from "../../docs/openapi.json" with { type: "json" };

/** How many requests are sent for each number of threads. Set by the task, as they take minutes. */
const REQUESTS = Number(Deno.env.get("SWITCHYARD_FUZZ_REQUESTS") ?? Deno.env.get("SWITCHYARD_TEST_FUZZ") ?? "0");
const SEED = Number(Deno.env.get("SWITCHYARD_TEST_SEED") ?? Math.floor(Math.random() * 2 ** 31));
/** Requests at one time. */
const CLIENTS = 8;

/** Endpoints that end the gateway's ability to be tested: changes of the configuration and of what is stored. */
const LEFT_OUT = /\/erase$|\/suspend$|admin-keys/;

const ENDPOINTS: readonly FuzzedEndpoint[] = Object.entries(document.paths).flatMap(([path, operations]) =>
  Object.keys(operations).filter((method) => ["get", "post", "put", "patch", "delete"].includes(method)).map((
    method,
  ) => ({
    method: method.toUpperCase(),
    path,
  }))
).filter(({ path }) => !LEFT_OUT.test(path));

for (const isolates of [1, 2]) {
  const threads = isolates === 1 ? "one thread" : "two threads";
  const title = `hostile requests to every endpoint get an answer and end nothing, with ${threads} (seed ${SEED})`;
  const name = REQUESTS > 0 ? title : `${title}; runs in deno task test:fuzz`;
  Deno.test({ name, ignore: REQUESTS === 0, fn: () => fuzz(isolates) });
}

/** With the status, the least that tells it. */
const STATUS_LINE_START = "HTTP/1.1 200 ";

async function fuzz(isolates: number): Promise<void> {
  const random = new SeededRandom(SEED);
  const sandbox = await startSandbox({ port: 0 });
  const folder = await Deno.makeTempDir();
  const [key, adminKey] = [newApiKey(), newApiKey()];
  await Deno.writeTextFile(
    `${folder}/fuzz.json`,
    JSON.stringify(configOf(sandbox.baseUrls.openai, { folder, key, adminKey, isolates })),
  );
  const child = startGatewayProcess({ args: ["serve", "--config", `${folder}/fuzz.json`], folder });
  let hasEnded = false;
  const ended = child.ended.then((status) => {
    hasEnded = true;
    return status;
  });
  const port = Number(new URL(itemAt(await child.until(/is ready at (\S+)/), 1)).port);
  const findings: string[] = [];
  let sent = 0;
  const client = async () => {
    while (sent < REQUESTS && !hasEnded) {
      const number = sent++;
      const endpoint = itemAt(ENDPOINTS, number % ENDPOINTS.length);
      const request = hostileRequest(random, endpoint, { key, adminKey });
      const start = await sendHostile(port, request);
      const status = Number(/^HTTP\/1\.[01] (\d{3}) /.exec(start)?.[1] ?? NaN);
      // A client that reads some bytes at a time may leave within the status line.
      const isCut = start.length < STATUS_LINE_START.length && STATUS_LINE_START.startsWith(start.slice(0, 9));
      const isAnswer = isCut || (status >= 100 && status < 600 && status !== 500);
      if (!isAnswer) findings.push(`${number} ${endpoint.method} ${endpoint.path}: ${start.slice(0, 200)}`);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  assert(!hasEnded, `the process ended: ${child.log()}`);
  assertEquals(findings, [], child.log().slice(-4_000));
  for (let probe = 0; probe < 4; probe++) {
    const response = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "fuzz/text", messages: [{ role: "user", content: `probe ${probe}` }] }),
    });
    assertEquals([response.status, await response.text().then((text) => text.length > 0)], [200, true]);
  }
  const faults = child.log().split("\n").filter((line) =>
    /unhandled_|event_loop_stalled|isolate_ended|Uncaught/.test(line)
  );
  assertEquals(faults, []);
  child.kill("SIGTERM");
  assertEquals((await ended).code, 0, child.log());
  await sandbox.stop();
  await Deno.remove(folder, { recursive: true });
}

function configOf(
  base_url: string,
  { folder, key, adminKey, isolates }: { folder: string; key: string; adminKey: string; isolates: number },
): unknown {
  return {
    server: { port: 0, admin_key: adminKey, isolates, shutdown_grace: 1 },
    store: `kv:${folder}/store.db`,
    files: `${folder}/files`,
    accounts: [{ id: "fuzz", balance: "1000", keys: [key] }],
    providers: { openai: { kind: "openai", base_url, api_key: "sandbox-key", speaks: "both", quirks: [] } },
    models: [{ id: "fuzz/text", pricing: { completion: "0.000001" }, serves: [{ provider: "openai" }] }],
    egress: { allow: ["127.0.0.1/32"] },
    logs: { level: "warn" },
  };
}
