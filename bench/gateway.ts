import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Mode, MODES, type Wire, WIRES } from "./ask.ts";
import { USAGE } from "./canned_replies.ts";
import { type Server, startServer } from "./child.ts";

/** The caller's key. */
export const CALLER_KEY = "bench-caller-key-0123456789";

const ADMIN_KEY = "bench-admin-key-0123456789";
const ACCOUNT = "bench";
/** What the tasks allow of the system. */
export const ALLOW_SYS = "--allow-sys=uid,statfs,systemMemoryInfo";
const REPOSITORY = new URL("../", import.meta.url);

/** USD per token, in and out: a price, so that every reply is charged. */
const TOKEN_PRICE = 0.00000001;

/** Which kind of provider speaks a wire form. */
const KINDS: Readonly<Record<Wire, string>> = { chat: "openai", messages: "anthropic", content: "google" };

/** What the catalog calls the upstream of a wire form that answers in a mode. */
export function modelFor(wire: Wire, mode: Mode): string {
  return `bench/${wire}-${mode}`;
}

/** Where to run the gateway, and on what. */
export interface GatewayOptions {
  /** For its configuration, its store and its log. */
  readonly folder: string;
  readonly upstreamPort: number;
  readonly core: number | null;
}

/** Starts the gateway as in production: a store on disk, a catalog with prices, a log at level info into a file. */
export async function startGateway(options: GatewayOptions): Promise<Server> {
  const program = fileURLToPath(new URL("main.ts", REPOSITORY));
  return await startFrom([ALLOW_SYS, program, "serve", "--config"], [], options);
}

/** Starts the gateway with a profiler inside; see `profiled_gateway.ts`. Its profiles go into the folder. */
export async function startProfiledGateway(options: GatewayOptions): Promise<Server> {
  const program = fileURLToPath(new URL("profiled_gateway.ts", import.meta.url));
  return await startFrom(["--allow-sys", program], [options.folder], options);
}

/** `program`: its flags, its file, its words; the configuration's path comes after it. */
async function startFrom(
  program: readonly string[],
  rest: readonly string[],
  { folder, upstreamPort, core }: GatewayOptions,
): Promise<Server> {
  const config = join(folder, "switchyard.json");
  await Deno.writeTextFile(config, JSON.stringify(configOf(folder, upstreamPort)));
  const permissions = ["--allow-net", "--allow-env", "--allow-read", `--allow-write=${folder}`];
  const flags = ["--quiet", "--no-check", "--config", fileURLToPath(new URL("deno.json", REPOSITORY))];
  const command = [Deno.execPath(), "run", ...flags, ...permissions, ...program, config, ...rest];
  return await startServer({ name: "Switchyard", command, logPath: join(folder, "gateway.log"), core });
}

function configOf(folder: string, upstreamPort: number): unknown {
  const pairs = WIRES.flatMap((wire) => MODES.map((mode) => ({ wire, mode, provider: `${wire}-${mode}` })));
  const price = TOKEN_PRICE.toFixed(8);
  return {
    server: { host: "127.0.0.1", port: 0, admin_key: ADMIN_KEY, shutdown_grace: 1 },
    store: `kv:${join(folder, "store.db")}`,
    files: join(folder, "files"),
    accounts: [{ id: ACCOUNT, balance: "100000.00", keys: [CALLER_KEY] }],
    providers: Object.fromEntries(pairs.map(({ wire, mode, provider }) => [provider, {
      kind: KINDS[wire],
      base_url: `http://127.0.0.1:${upstreamPort}/${mode}`,
      api_key: "upstream-key",
    }])),
    models: pairs.map(({ wire, mode, provider }) => ({
      id: modelFor(wire, mode),
      pricing: { prompt: price, completion: price },
      context_length: 128_000,
      top_provider: { max_completion_tokens: 16_384 },
      serves: [{ provider }],
    })),
    logs: { level: "info" },
  };
}

/** What the account has been charged so far, in whole replies' worth. Throws when the gateway does not say. */
export async function repliesCharged(gateway: Server): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${gateway.port}/admin/v1/accounts/${ACCOUNT}`, {
    headers: { authorization: `Bearer ${ADMIN_KEY}` },
  });
  const { balance } = await response.json();
  if (typeof balance !== "string") throw new Error(`Cannot read the balance: the gateway answered ${response.status}`);
  return (100_000 - Number(balance)) / (TOKEN_PRICE * (USAGE.prompt + USAGE.completion));
}
