import { parseArgs } from "node:util";
import { buildApp } from "../app.ts";
import { newApiKey } from "../billing/api_key.ts";
import { verifyLedger } from "../billing/verify_ledger.ts";
import type { Config } from "../config/config.ts";
import { loadConfig } from "../config/load_config.ts";
import { silentLog } from "../lib/log.ts";
import { writeMoney } from "../lib/money.ts";
import { StoreInUseError } from "../store/lock.ts";
import { UsageError } from "./usage_error.ts";

/** The first words of the commands that administer accounts. */
export const ADMIN_COMMANDS: ReadonlySet<string> = new Set(["accounts", "keys", "ledger"]);

/** What a command line asks of the admin API. */
interface AdminCall {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly body?: Readonly<Record<string, unknown>>;
}

/** Sends one call and gives the answer. */
type AdminApi = (call: AdminCall) => Promise<{ readonly status: number; readonly body: unknown }>;

/**
 * `accounts …`, `keys …`, `ledger …`: the admin API as commands. A stopped gateway's store is opened directly; of a running
 * one, which owns its store, the API is called.
 */
export async function adminCommand(command: string, args: readonly string[]): Promise<number> {
  const { values, positionals } = optionsIn(args);
  const config = loadConfig({ path: values.config, env: (name) => Deno.env.get(name) });
  if (command === "ledger" && positionals[0] === "verify") return await verify(config);
  const call = callFor(command, positionals, values);
  const { status, body } = await (await apiFor(config))(call);
  if (status >= 400) {
    console.error(messageIn(body) ?? `the admin API answered ${status}`);
    return 1;
  }
  console.log(JSON.stringify(body, null, 2));
  return 0;
}

function optionsIn(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        config: { type: "string" },
        balance: { type: "string" },
        reference: { type: "string" },
        limit: { type: "string" },
        after: { type: "string" },
      },
    });
  } catch (error) {
    throw new UsageError(`switchyard: ${(error as Error).message}`);
  }
}

type Options = ReturnType<typeof optionsIn>["values"];

function callFor(command: string, positionals: readonly string[], options: Options): AdminCall {
  const [verb = "", account, extra] = positionals;
  const at = (rest: string) => `/admin/v1/accounts/${encodeURIComponent(needed(account, "an account"))}${rest}`;
  switch (`${command} ${verb}`) {
    case "accounts create":
      return {
        method: "POST",
        path: "/admin/v1/accounts",
        body: { id: needed(account, "an id"), balance: options.balance },
      };
    case "accounts list":
      return { method: "GET", path: `/admin/v1/accounts${pageOf(options)}` };
    case "accounts show":
      return { method: "GET", path: at("") };
    case "accounts suspend":
    case "accounts resume":
      return { method: "POST", path: at(`/${verb}`) };
    case "accounts credit": {
      const body = { amount: needed(extra, "an amount of USD"), reference: options.reference };
      return { method: "POST", path: at("/credit"), body };
    }
    case "keys create":
      return { method: "POST", path: at("/keys") };
    case "keys list":
      return { method: "GET", path: at("/keys") };
    case "keys revoke":
      return { method: "DELETE", path: at(`/keys/${encodeURIComponent(needed(extra, "a key's id"))}`) };
    case "ledger list":
      return { method: "GET", path: at(`/ledger${pageOf(options)}`) };
  }
  throw new UsageError(`switchyard ${command}: there is no "${verb}"`);
}

function needed(word: string | undefined, what: string): string {
  if (word === undefined || word === "") throw new UsageError(`switchyard: expected ${what}`);
  return word;
}

function pageOf({ limit, after }: Options): string {
  const query = new URLSearchParams();
  if (limit !== undefined) query.set("limit", limit);
  if (after !== undefined) query.set("after", after);
  return query.size === 0 ? "" : `?${query}`;
}

async function apiFor(config: Config): Promise<AdminApi> {
  const adminKey = newApiKey();
  try {
    const app = await buildApp({ config: { ...config, server: { ...config.server, adminKey } }, log: silentLog });
    return async (call) => {
      const peer = { remoteAddr: { transport: "tcp", hostname: "127.0.0.1", port: 0 } } as const;
      const response = await app.handler(requestOf(call, "http://localhost", adminKey), {
        ...peer,
        completed: Promise.resolve(),
      });
      const answer = { status: response.status, body: await response.json() };
      await app.close();
      return answer;
    };
  } catch (error) {
    if (!(error instanceof StoreInUseError)) throw error;
    return runningApi(config, error);
  }
}

function runningApi({ server }: Config, inUse: StoreInUseError): AdminApi {
  if (server.adminKey === null) {
    throw new UsageError(`${inUse.message}. To administer a running gateway, set server.admin_key, or stop it first.`);
  }
  const { adminKey } = server;
  const host = ["0.0.0.0", "::"].includes(server.host) ? "127.0.0.1" : server.host;
  return async (call) => {
    const response = await fetch(requestOf(call, `http://${host}:${server.port}`, adminKey));
    return { status: response.status, body: await response.json() };
  };
}

function requestOf({ method, path, body }: AdminCall, base: string, adminKey: string): Request {
  return new Request(base + path, {
    method,
    headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json", host: new URL(base).host },
    body: method === "POST" ? JSON.stringify(body ?? {}) : undefined,
  });
}

function messageIn(body: unknown): string | null {
  const error = (body as { error?: { message?: unknown } } | null)?.error;
  return typeof error?.message === "string" ? error.message : null;
}

async function verify(config: Config): Promise<number> {
  const app = await buildApp({ config, log: silentLog });
  try {
    const { accounts, lines, differences } = await verifyLedger(app.store);
    for (const difference of differences) console.error(JSON.stringify(difference, decimals));
    console.log(`${accounts} accounts with ${lines} lines; ${differences.length} differences`);
    return differences.length === 0 ? 0 : 1;
  } finally {
    await app.close();
  }
}

/** Money as decimals of USD in what is printed. */
function decimals(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? writeMoney(value) : value;
}
