import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { jsonObjectOf } from "../src/platform/http/bodies/json_body.ts";
import { prefixesOf } from "../src/services/texts/prompt_caching/prompt_prefixes.ts";
import { startSandbox } from "../src/sandbox/mod.ts";
import { startServer } from "./child.ts";
import { ALLOW_SYS } from "./gateway.ts";
import { processState } from "./process_state.ts";
import { rangeOf } from "./statistics.ts";

/**
 * What prompt caching costs and saves: the time of the hashes of a prompt, beside the processor time of the request,
 * and the money of an agent's loop and of single requests, from chat completions to a simulated Claude.
 */

const KEY = "sk-bench-prompt-caching-00";
const TURNS = 20;
const ROUNDS = 5;
const SINGLE_REQUESTS = 1_000;

/** A chat completion of about so many bytes: an agent's turn with short texts, as many as fit. */
function bodyOf(bytes: number): Record<string, unknown> {
  const messages: Record<string, unknown>[] = [{ role: "system", content: wordsOf("system", bytes / 40) }];
  while (JSON.stringify(messages).length < bytes) {
    messages.push(
      { role: messages.length % 2 === 1 ? "user" : "assistant", content: wordsOf(`m${messages.length}`, 60) },
    );
  }
  return { messages };
}

function wordsOf(name: string, count: number): string {
  return Array.from({ length: count }, (_, index) => `${name}${index}`).join(" ");
}

/** The time of the hashes of one prompt in microseconds. */
function hashTime(bytes: number): number {
  const text = new TextEncoder().encode(JSON.stringify(bodyOf(bytes)));
  const { outline, scan } = jsonObjectOf(text);
  const times = Array.from({ length: ROUNDS }, () => {
    const count = Math.ceil(20_000_000 / bytes);
    const from = performance.now();
    for (let index = 0; index < count; index++) prefixesOf({ body: outline, bytes: text, scan });
    return (performance.now() - from) / count * 1_000;
  });
  return rangeOf(times)?.min ?? NaN;
}

/** A gateway with a model of Claude with prompt caching, `bench/auto`, and the same without, `bench/off`. */
async function startGateway(vendor: string, folder: string) {
  const pricing = {
    prompt: "0.000001",
    completion: "0.000001",
    input_cache_read: "0.0000001",
    input_cache_write_5m: "0.00000125",
  };
  const model = (id: string, more: Record<string, unknown> = {}) => ({
    id,
    context_length: 1_000_000,
    top_provider: { max_completion_tokens: 1_000 },
    pricing,
    serves: [{ provider: "claude", model: "claude-opus-4-8" }],
    ...more,
  });
  const config = join(folder, "switchyard.json");
  await Deno.writeTextFile(
    config,
    JSON.stringify({
      server: { host: "127.0.0.1", port: 0, isolates: 1 },
      store: `kv:${join(folder, "store.db")}`,
      files: join(folder, "files"),
      accounts: [{ id: "bench", balance: "10000.00", keys: [KEY] }],
      providers: { claude: { kind: "anthropic", base_url: vendor, api_key: "sandbox-key-anthropic" } },
      models: [model("bench/auto"), model("bench/off", { prompt_caching: "off" })],
      egress: { allow: ["127.0.0.1/32"] },
      logs: { level: "error" },
    }),
  );
  const repository = new URL("../", import.meta.url);
  const flags = ["--quiet", "--no-check", "--config", fileURLToPath(new URL("deno.json", repository))];
  const permissions = ["--allow-net", "--allow-env", "--allow-read", `--allow-write=${folder}`, ALLOW_SYS];
  const program = [fileURLToPath(new URL("main.ts", repository)), "serve", "--config", config];
  const command = [Deno.execPath(), "run", ...flags, ...permissions, ...program];
  return await startServer({ name: "Switchyard", command, logPath: join(folder, "gateway.log"), core: null });
}

/** Sends a chat completion and returns what it cost in USD. */
async function send(port: number, model: string, body: Record<string, unknown>): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
    body: JSON.stringify({ max_tokens: 50, ...body, model }),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`Cannot continue: the gateway answered ${response.status}: ${text}`);
  return Number(response.headers.get("x-service-cost"));
}

async function loopCost(port: number, model: string, name: string): Promise<number> {
  const messages: Record<string, unknown>[] = [
    { role: "system", content: wordsOf(`system-${name}-`, 8_000) },
    { role: "user", content: wordsOf(`task-${name}-`, 200) },
  ];
  let cost = 0;
  for (let turn = 0; turn < TURNS; turn++) {
    cost += await send(port, model, { messages });
    const call = { id: `call_${turn}`, type: "function", function: { name: "look", arguments: "{}" } };
    messages.push(
      { role: "assistant", content: "I look.", tool_calls: [call] },
      { role: "tool", tool_call_id: `call_${turn}`, content: wordsOf(`result-${turn}-`, 200) },
    );
  }
  return cost;
}

async function singleCost(port: number, model: string): Promise<number> {
  let cost = 0;
  for (let index = 0; index < SINGLE_REQUESTS; index++) {
    cost += await send(port, model, { messages: [{ role: "user", content: wordsOf(`question-${index}-`, 1_200) }] });
  }
  return cost;
}

/** The gateway's processor time for one request of 100 KB, in microseconds. */
async function requestTime(port: number, pid: number, model: string): Promise<number> {
  const body = bodyOf(100_000);
  for (let index = 0; index < 50; index++) await send(port, model, body);
  const before = await processState(pid);
  const count = 300;
  for (let index = 0; index < count; index++) await send(port, model, body);
  const after = await processState(pid);
  return ((after?.cpuMs ?? 0) - (before?.cpuMs ?? 0)) / count * 1_000;
}

if (import.meta.main) {
  const folder = await Deno.makeTempDir();
  const sandbox = await startSandbox({ port: 0 });
  const gateway = await startGateway(sandbox.baseUrls.anthropic, folder);
  try {
    const [small, large] = [hashTime(1_000), hashTime(100_000)];
    const request = await requestTime(gateway.port, gateway.pid, "bench/off");
    console.log(`hashes of 1 KB: ${small.toFixed(1)} µs`);
    console.log(`hashes of 100 KB: ${large.toFixed(0)} µs, of a request: ${request.toFixed(0)} µs`);
    console.log(`share: ${(large / request * 100).toFixed(1)} %`);
    const [without, loop] = [
      await loopCost(gateway.port, "bench/off", "a"),
      await loopCost(gateway.port, "bench/auto", "a"),
    ];
    console.log(`loop of ${TURNS} turns: ${loop.toFixed(6)} USD of ${without.toFixed(6)} USD`);
    console.log(`share: ${(loop / without * 100).toFixed(1)} %`);
    const [off, auto] = [await singleCost(gateway.port, "bench/off"), await singleCost(gateway.port, "bench/auto")];
    console.log(`${SINGLE_REQUESTS} single requests: ${auto.toFixed(6)} USD, without: ${off.toFixed(6)} USD`);
  } finally {
    await gateway.stop();
    await sandbox.stop();
    await Deno.remove(folder, { recursive: true });
  }
}
