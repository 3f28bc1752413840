import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { RUN_ENVIRONMENT } from "../scripts/run_flags.ts";
import { BENCH_FORMATS, type BenchFormat, type Mode, MODES } from "./load_request.ts";
import { USAGE } from "./canned_replies.ts";
import { type Server, startServer } from "./child.ts";

/** The caller's key. */
export const CALLER_KEY = "bench-caller-key-0123456789";

const ADMIN_KEY = "bench-admin-key-0123456789";
const ACCOUNT = "bench";
/** The system permissions of the tasks in `deno.json`. */
export const ALLOW_SYS = "--allow-sys=uid,statfs,systemMemoryInfo";
const REPOSITORY = new URL("../", import.meta.url);
const DENO_CONFIG = fileURLToPath(new URL("deno.json", REPOSITORY));

/** USD per input and output token, so that every reply is charged. */
const TOKEN_PRICE = "0.00000001";

/** The provider kind of each wire format. */
const KINDS: Readonly<Record<BenchFormat, string>> = { chat: "openai", messages: "anthropic", content: "google" };

/** The model id of the upstream of a wire format that replies in a mode. */
export function modelFor(wire: BenchFormat, mode: Mode): string {
  return `bench/${wire}-${mode}`;
}

/** Options of the gateway process. */
export interface GatewayOptions {
  /** The folder of its configuration, its store and its log. */
  readonly folder: string;
  readonly upstreamPort: number;
  readonly core: number | null;
  /** USD per token; without it each reply costs a few millionths of a dollar. */
  readonly tokenPrice?: string;
  /** The setting `billing.durability`; without it the default. */
  readonly durability?: "process" | "power";
  /** Whether requests are logged, as by default. */
  readonly logsRequests?: boolean;
  /** The setting `server.isolates`. Default: 1, since most benchmarks compare the work of one thread. */
  readonly isolates?: number;
  /** The setting `store`; without it a file in the folder. */
  readonly store?: string;
  /** Whether it has one provider with one model instead of one for each format and kind of reply. */
  readonly hasOneProvider?: boolean;
}

/** Starts the gateway as in production: a store on disk, a catalog with prices, a log file at level info. */
export async function startGateway(options: GatewayOptions): Promise<Server> {
  const program = fileURLToPath(new URL("main.ts", REPOSITORY));
  return await startFrom([program, "serve", "--config"], [], options);
}

/** Starts the gateway with a profiler inside; see `profiled_gateway.ts`. The profiles are written to the folder. */
export async function startProfiledGateway(options: GatewayOptions): Promise<Server> {
  const program = fileURLToPath(new URL("profiled_gateway.ts", import.meta.url));
  // The profiler needs more of the system.
  return await startFrom([program], [options.folder], options, "--allow-sys");
}

/** Starts the gateway with or without the counts of its metrics; see `observed_gateway.ts`. */
export async function startObservedGateway(
  options: GatewayOptions & { readonly countsRequests: boolean },
): Promise<Server> {
  const program = fileURLToPath(new URL("observed_gateway.ts", import.meta.url));
  const counts = options.countsRequests ? "counted" : "uncounted";
  return await startFrom([program], [counts], options);
}

/**
 * @param program File and arguments; the configuration's path is added after them.
 * @param allowSys The permission to read the system. Default: that of production.
 */
async function startFrom(
  program: readonly string[],
  rest: readonly string[],
  options: GatewayOptions,
  allowSys = ALLOW_SYS,
): Promise<Server> {
  const { folder, core } = options;
  const config = join(folder, "switchyard.json");
  await Deno.writeTextFile(config, JSON.stringify(configOf(options)));
  const command = [...await productionCommand(allowSys), ...program, config, ...rest];
  const logPath = join(folder, "gateway.log");
  return await startServer({ name: "Switchyard", command, env: RUN_ENVIRONMENT, logPath, core });
}

/**
 * The command that runs a program as the gateway runs in production: with the flags that the task `start` gives it,
 * which are permissions and options of V8.
 *
 * @param allowSys The permission to read the system. Default: that of production.
 */
export async function productionCommand(allowSys: string = ALLOW_SYS): Promise<string[]> {
  const { tasks: { start: { command } } } = JSON.parse(await Deno.readTextFile(DENO_CONFIG));
  const flags = String(command).split(" ").filter((word) => word.startsWith("--"));
  const own = flags.map((flag) => flag === ALLOW_SYS ? allowSys : flag);
  return [Deno.execPath(), "run", "--quiet", "--no-check", "--config", DENO_CONFIG, ...own];
}

function configOf(options: GatewayOptions): unknown {
  const { folder, upstreamPort, tokenPrice: price = TOKEN_PRICE, durability, logsRequests = true, isolates = 1 } =
    options;
  const { store = `kv:${join(folder, "store.db")}` } = options;
  const all = BENCH_FORMATS.flatMap((wire) => MODES.map((mode) => ({ wire, mode, provider: `${wire}-${mode}` })));
  const pairs = options.hasOneProvider === true ? all.slice(0, 1) : all;
  return {
    server: {
      host: "127.0.0.1",
      port: 0,
      admin_key: ADMIN_KEY,
      shutdown_grace: 1,
      isolates,
    },
    store,
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
    ...(durability !== undefined && { billing: { durability } }),
    ...(!logsRequests && { request_log: false }),
    logs: { level: "info" },
  };
}

/** The account's charges so far, in numbers of whole replies. Throws when the gateway does not report them. */
export async function repliesCharged(gateway: Server): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${gateway.port}/admin/v1/accounts/${ACCOUNT}`, {
    headers: { authorization: `Bearer ${ADMIN_KEY}` },
  });
  const { balance } = await response.json();
  if (typeof balance !== "string") throw new Error(`Cannot read the balance: the gateway answered ${response.status}`);
  return (100_000 - Number(balance)) / (Number(TOKEN_PRICE) * (USAGE.prompt + USAGE.completion));
}
