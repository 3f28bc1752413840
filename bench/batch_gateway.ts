/** The gateway of the benchmarks of batches: one account has batches, another one sends small requests. */
import { join } from "node:path";
import { RUN_ENVIRONMENT, V8_OPTION } from "../scripts/run_flags.ts";
import { program, run, type Server, startServer } from "./child.ts";
import { HEAVY_KEY, LIGHT_KEY } from "./neighbour_gateway.ts";
import type { ProbeOptions, ProbeResult } from "./neighbour_probe.ts";
import { processState } from "./process_state.ts";

/** The balance of each account at the start, in USD. */
export const BALANCE = 1_000_000;
/** The price of a token of prompts and of replies, in USD. */
export const TOKEN_PRICE = "0.000001";
/** The longest that a request of these benchmarks takes. */
export const MAX_MS = 3_600_000;
/** Small requests of the other account in a second. */
export const SMALL_PER_SECOND = 25;

/** What {@linkcode startBatchGateway} needs. */
export interface BatchGatewayOptions {
  readonly folder: string;
  readonly vendorPort: number;
  /** The models `bench/…`, each with a provider of its name, whose address ends with that name. */
  readonly models: readonly string[];
}

/** Starts it with the defaults, and with the store in a file of the folder. */
export async function startBatchGateway({ folder, vendorPort, models }: BatchGatewayOptions): Promise<Server> {
  const path = join(folder, "switchyard.json");
  const providers = models.map((name) => {
    const address = `http://127.0.0.1:${vendorPort}/${name}`;
    return [name, { kind: "openai", base_url: address, api_key: "bench-vendor-key" }];
  });
  const config = {
    server: { host: "127.0.0.1", port: 0, shutdown_grace: 1 },
    store: `kv:${join(folder, "store.db")}`,
    files: join(folder, "files"),
    accounts: [
      { id: "light", balance: String(BALANCE), keys: [LIGHT_KEY] },
      { id: "heavy", balance: String(BALANCE), keys: [HEAVY_KEY] },
    ],
    providers: Object.fromEntries(providers),
    models: models.map((name) => ({
      id: `bench/${name}`,
      pricing: { prompt: TOKEN_PRICE, completion: TOKEN_PRICE },
      serves: [{ provider: name }],
    })),
    logs: { level: "warn" },
  };
  await Deno.writeTextFile(path, JSON.stringify(config));
  return await startServer({
    name: "gateway",
    command: [...program("main.ts", [V8_OPTION]), "serve", "--config", path],
    env: RUN_ENVIRONMENT,
    logPath: join(folder, "gateway.log"),
    core: null,
  });
}

/**
 * Sends a request of the account with batches, and returns the reply.
 *
 * @param body A form, or what is sent as JSON. Default: none.
 * @throws {Error} If the status is no success.
 */
export async function callAsHeavy(
  { port }: Pick<Server, "port">,
  method: string,
  path: string,
  body?: object,
): Promise<Readonly<Record<string, unknown>>> {
  const isForm = body instanceof FormData;
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { authorization: `Bearer ${HEAVY_KEY}`, ...!isForm && { "content-type": "application/json" } },
    body: body === undefined ? null : isForm ? body : JSON.stringify(body),
    signal: AbortSignal.timeout(MAX_MS),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} was answered ${response.status}: ${text.slice(0, 500)}`);
  return JSON.parse(text);
}

/** The memory of a server now; 0 if it has ended. */
export async function residentBytesOf({ pid }: Pick<Server, "pid">): Promise<number> {
  return (await processState(pid))?.residentBytes ?? 0;
}

/** Sends {@linkcode SMALL_PER_SECOND} requests as the other account. */
export async function probeSmall({ port }: Pick<Server, "port">, seconds: number): Promise<ProbeResult> {
  const options: ProbeOptions = { port, key: LIGHT_KEY, model: "bench/small", seconds, perSecond: SMALL_PER_SECOND };
  const said = await run([...program("bench/neighbour_probe.ts"), JSON.stringify(options)], { timeoutMs: MAX_MS });
  return JSON.parse(said) as ProbeResult;
}
