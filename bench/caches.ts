import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ALLOW_SYS } from "./gateway.ts";
import { type Server, startServer } from "./child.ts";
import { processState } from "./process_state.ts";
import { type Spread, spreadOf } from "./statistics.ts";

/** Options of the measurement. */
export interface CacheBenchOptions {
  /** The folder of log, configuration, store and files. */
  readonly folder: string;
  /** Requests of each kind, one after another. Default 100. */
  readonly requests?: number;
  /** Bytes of the cached text. Default 4 MB. */
  readonly contextBytes?: number;
}

/** The figures of one kind of request. */
export interface CacheFigures {
  /**
   * `short`: a question without a cache. `reference`: the same question with the cache. `whole`: the question with the
   * complete context in the request, as it would be without caches.
   */
  readonly request: "short" | "reference" | "whole";
  readonly requests: number;
  /** From the request to the first byte of the streamed reply, in milliseconds. */
  readonly firstByteMs: Spread;
  /** The gateway's processor time for one request. */
  readonly cpuMsPerRequest: number;
  /** Memory in use after the requests. */
  readonly residentBytes: number;
  /** Peak memory until then. */
  readonly peakBytes: number;
}

const KEY = "sk-bench-caches-0000000000";
const MODEL = "bench/reader-1";
const REQUEST_PATH = `/gencompat/v1beta/models/${MODEL}:streamGenerateContent?alt=sse`;
const SENTENCE = "The quick brown fox jumps over the lazy dog. ";
const WARM_UP = 10;

/** Measures references to an emulated cache, one at a time, through a gateway with its store and files on disk. */
export async function benchCaches({ folder, requests = 100, contextBytes = 4_000_000 }: CacheBenchOptions) {
  const vendor = startVendor();
  const gateway = await startGateway(vendor.addr.port, folder);
  try {
    const context = SENTENCE.repeat(Math.ceil(contextBytes / SENTENCE.length)).slice(0, contextBytes);
    const kept = { role: "user", parts: [{ text: context }] };
    const question = { role: "user", parts: [{ text: "Which animal jumps?" }] };
    const cachedContent = await createCache(gateway.port, [kept]);
    const figures: CacheFigures[] = [];
    const bodies = {
      short: { contents: [question] },
      reference: { contents: [question], cachedContent },
      whole: { contents: [kept, question] },
    };
    for (const request of ["short", "reference", "whole"] as const) {
      const body = JSON.stringify(bodies[request]);
      for (let round = 0; round < WARM_UP; round++) await firstByteMs(gateway.port, body);
      figures.push(await measure(gateway, body, { request, requests }));
    }
    return figures;
  } finally {
    await gateway.stop();
    await vendor.shutdown();
  }
}

async function measure(
  gateway: Server,
  body: string,
  load: Pick<CacheFigures, "request" | "requests">,
): Promise<CacheFigures> {
  const before = await processState(gateway.pid);
  const spans: number[] = [];
  for (let round = 0; round < load.requests; round++) spans.push(await firstByteMs(gateway.port, body));
  const after = await processState(gateway.pid);
  return {
    ...load,
    firstByteMs: spreadOf(spans)!,
    cpuMsPerRequest: ((after?.cpuMs ?? 0) - (before?.cpuMs ?? 0)) / load.requests,
    residentBytes: after?.residentBytes ?? 0,
    peakBytes: after?.peakBytes ?? 0,
  };
}

async function firstByteMs(port: number, body: string): Promise<number> {
  const from = performance.now();
  const answer = await fetch(`http://127.0.0.1:${port}${REQUEST_PATH}`, { method: "POST", headers: HEADERS, body });
  const reader = answer.body!.getReader();
  await reader.read();
  const span = performance.now() - from;
  if (answer.status !== 200) throw new Error(`Cannot continue: the gateway answered ${answer.status}`);
  while (!(await reader.read()).done);
  return span;
}

const HEADERS = { authorization: `Bearer ${KEY}`, "content-type": "application/json" };

async function createCache(port: number, contents: readonly unknown[]): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}/gencompat/v1beta/cachedContents`, {
    method: "POST",
    headers: HEADERS,
    body: JSON.stringify({ model: MODEL, contents, ttl: "3600s" }),
  });
  const { name } = await answer.json();
  if (typeof name !== "string") throw new Error(`Cannot create the cache: the gateway answered ${answer.status}`);
  return name;
}

/** A vendor of the messages format that reads the whole request and then streams the same reply at once. */
function startVendor(): Deno.HttpServer<Deno.NetAddr> {
  const frames = [
    { type: "message_start", message: { id: "msg_1", model: "m", usage: { input_tokens: 9, output_tokens: 1 } } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "The fox" } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } },
    { type: "message_stop" },
  ];
  const stream = frames.map((frame) => `event: ${frame.type}\ndata: ${JSON.stringify(frame)}\n\n`).join("");
  return Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    let bytes = 0;
    for await (const chunk of request.body ?? []) bytes += chunk.length;
    if (request.url.endsWith("/count_tokens")) return Response.json({ input_tokens: Math.ceil(bytes / 4) });
    return new Response(stream, { headers: { "content-type": "text/event-stream" } });
  });
}

async function startGateway(vendorPort: number, folder: string): Promise<Server> {
  const config = join(folder, "switchyard.json");
  const vendor = { kind: "anthropic", base_url: `http://127.0.0.1:${vendorPort}`, api_key: "vendor-key" };
  const tree = {
    server: { host: "127.0.0.1", port: 0, isolates: 1 },
    store: `kv:${join(folder, "store.db")}`,
    files: join(folder, "files"),
    accounts: [{ id: "bench", balance: "10000.00", keys: [KEY] }],
    providers: { vendor },
    models: [{
      id: MODEL,
      pricing: { prompt: "0.00000001", completion: "0.00000001" },
      serves: [{ provider: "vendor" }],
    }],
    logs: { level: "info" },
  };
  await Deno.writeTextFile(config, JSON.stringify(tree));
  const repository = new URL("../", import.meta.url);
  const flags = ["--quiet", "--no-check", "--config", fileURLToPath(new URL("deno.json", repository))];
  const permissions = ["--allow-net", "--allow-env", "--allow-read", `--allow-write=${folder}`, ALLOW_SYS];
  const program = [fileURLToPath(new URL("main.ts", repository)), "serve", "--config", config];
  const command = [Deno.execPath(), "run", ...flags, ...permissions, ...program];
  return await startServer({ name: "Switchyard", command, logPath: join(folder, "gateway.log"), core: null });
}

/** The figures as a table. */
export function writeCacheReport(figures: readonly CacheFigures[]): string {
  const rows = figures.map(({ request, requests, firstByteMs, cpuMsPerRequest, residentBytes, peakBytes }) => [
    request,
    requests,
    firstByteMs.p50.toFixed(1),
    firstByteMs.p99.toFixed(1),
    cpuMsPerRequest.toFixed(1),
    Math.round(residentBytes / 1e6),
    Math.round(peakBytes / 1e6),
  ]);
  const head = ["request", "requests", "first byte, ms, p50", "p99", "core ms each", "MB in use", "peak MB"];
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

if (import.meta.main) {
  const folder = await Deno.makeTempDir();
  console.log(writeCacheReport(await benchCaches({ folder, requests: Number(Deno.args[0] ?? 100) })));
  await Deno.remove(folder, { recursive: true });
}
